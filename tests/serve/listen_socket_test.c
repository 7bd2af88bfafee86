/* SPDX-License-Identifier: Apache-2.0 */
/* What the resolver's refusals become: only some of them come again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/serve/listen_socket.h"

static int code;

/* In place of the C library's, which asks a network. */
int getaddrinfo(const char *restrict node, const char *restrict service,
	const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
	(void)node, (void)service, (void)hints, (void)out;
	errno = EMFILE;
	return code;
}

static void expect(int resolver_code, enum tf_status wanted, const char *words)
{
	char text[TF_LISTEN_TEXT_BYTES];
	struct tf_error err = {0};
	int fd = -1;

	code = resolver_code;
	assert_int_equal(tf_listen_open("name.example:1", &fd, text, &err), wanted);
	assert_int_equal(fd, -1);
	if (strncmp(err.text, "cannot listen at 'name.example:1': ", 35) != 0 ||
		!strstr(err.text, words))
		fail_msg("'%s' is not in: %s", words, err.text);
}

static void a_refusal_that_passes_is_no_wrong_input(void **state)
{
	(void)state;
	expect(EAI_NONAME, TF_E_NOT_FOUND, "Name or service not known");
	expect(EAI_AGAIN, TF_E_SYSTEM, "Temporary failure");
	expect(EAI_SYSTEM, TF_E_SYSTEM, "Too many open files");
	expect(EAI_MEMORY, TF_E_NO_MEMORY, "emory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_that_passes_is_no_wrong_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
