/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small simulation of discrete events over shared resources: tasks that wait for other tasks,
 * then work for a fixed time, then move bytes.
 *
 * 1. A task begins once all tasks that it comes after have ended, each by the delay of its edge.
 * 2. A flow's rate is the least of its own cap and of its share of every resource on its path. The
 *    share is the capacity by the number of flows that are on the resource at that time.
 * 3. A resource that collapses carries its collapsed capacity for writes, by their number, while
 *    writes to `collapse_destinations` or more destinations are on it. Reads keep their share.
 * 4. The order in which tasks were added settles equal times, so a run depends on its input alone.
 * Rates change only where a flow begins or ends; between two such events all is linear.
 *
 * Units: ns and bytes, so a capacity in bytes a ns is one in decimal gigabytes a second.
 */
#ifndef TF_PREPARE_LINKS_LINK_SIM_H
#define TF_PREPARE_LINKS_LINK_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_SIM_PATH_MAX         12 /* issue, two ports, and what a links file may name for a pair */
#define TF_SIM_DESTINATIONS_MAX 8  /* a world */
#define TF_SIM_NONE             UINT32_MAX

struct tf_sim_resource {
	double gbps;
	uint32_t collapse_destinations; /* 0: never collapses */
	double collapsed_gbps;

	/* of the run */
	uint32_t flows, writes, writes_to[TF_SIM_DESTINATIONS_MAX];
};

struct tf_sim_task {
	double from_ns; /* not before */
	double work_ns; /* once begun, before its bytes move */
	double bytes;   /* 0: no flow */
	double cap_gbps;
	uint16_t path[TF_SIM_PATH_MAX]; /* resources */
	uint8_t path_count;
	bool write;
	uint8_t destination; /* write: what a collapse counts, below TF_SIM_DESTINATIONS_MAX */

	/* of the run */
	double end_ns, left_bytes, rate_gbps;
	uint32_t waits_for, first_edge;
};

struct tf_sim;

/* Room for that many; TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_sim_create(uint32_t tasks_max, uint32_t edges_max,
	uint32_t resources_max, struct tf_sim **out, struct tf_error *err);
void tf_sim_destroy(struct tf_sim *sim); /* takes NULL */

/* Forgets tasks, edges and resources. */
void tf_sim_clear(struct tf_sim *sim);

/* Adds a resource, a task (its end below `task->work_ns` alone if it has no bytes), or an edge.
 * Beyond the room is the caller's bug (assert). */
uint16_t tf_sim_resource(struct tf_sim *sim, const struct tf_sim_resource *resource);
uint32_t tf_sim_task(struct tf_sim *sim, const struct tf_sim_task *task);
/* `after` begins no earlier than `delay_ns` behind the end of `before`; NONE for `before`: no-op */
void tf_sim_after(struct tf_sim *sim, uint32_t after, uint32_t before, double delay_ns);

/* Runs all tasks to their end. Cost: events by flows under way by path lengths. */
void tf_sim_run(struct tf_sim *sim);
double tf_sim_end_ns(const struct tf_sim *sim, uint32_t task);

#ifdef __cplusplus
}
#endif
#endif
