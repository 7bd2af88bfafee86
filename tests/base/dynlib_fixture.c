/* SPDX-License-Identifier: Apache-2.0 */
/* A library for dynlib_test.c to open: two functions, and one that stays inside. */
int tf_fixture_one(void);
int tf_fixture_two(void);
int tf_fixture_hidden(void);

__attribute__((visibility("default"))) int tf_fixture_one(void)
{
	return 1;
}

__attribute__((visibility("default"))) int tf_fixture_two(void)
{
	return 2;
}

__attribute__((visibility("hidden"))) int tf_fixture_hidden(void)
{
	return 3;
}
