/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine's devices are and how each pair of them is joined, the topology class that
 * follows, and the location-free signature that a package stores.
 *
 * Read from hwloc (this machine or an XML file of another), NVML where it can be opened, and sysfs
 * for RDMA devices. A topology never changes after it was read. No host name, serial or UUID is
 * ever kept. A *rank device* is a device that a rank can run on: an NVIDIA GPU, or the host device
 * where there is none. Reading is for one thread at start-up (hwloc reads the environment); a
 * topology that was read may be used by any number of threads.
 */
#ifndef TF_RUNTIME_TOPOLOGY_TOPOLOGY_H
#define TF_RUNTIME_TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_TOPOLOGY_DEVICES_MAX     64   /* the largest machines hold 16 GPUs */
#define TF_TOPOLOGY_RANKS_MAX       64   /* as many as devices */
#define TF_TOPOLOGY_RDMA_MAX        1024 /* ports; virtual functions multiply them */
#define TF_TOPOLOGY_NODES_MAX       4096 /* PCI devices of interest with all bridges above them */
#define TF_TOPOLOGY_XML_BYTES_MAX   (16u << 20) /* the largest in hwloc's own collection is 1 MB */
#define TF_TOPOLOGY_MODEL_BYTES     96
#define TF_TOPOLOGY_BUS_ID_BYTES    24 /* "0000:1a:00.0"; domains grow to eight digits */
#define TF_TOPOLOGY_NAME_BYTES      64
#define TF_TOPOLOGY_SIGNATURE_BYTES 2048 /* holds the signature of eight ranks */
#define TF_TOPOLOGY_PATH_BYTES      256

enum tf_topology_class {
	TF_TOPOLOGY_LOCAL = 0,   /* "local": the host device */
	TF_TOPOLOGY_SWITCHED,    /* "switched": all pairs under PCIe switches, NVLink or NVSwitch */
	TF_TOPOLOGY_HOST_BRIDGE, /* "host-bridge": some pair meets at a root complex */
	TF_TOPOLOGY_RING,        /* "ring": hosts cabled to each other without a switch */
	TF_TOPOLOGY_FABRIC,      /* "fabric": hosts on a switched RoCE fabric */
	TF_TOPOLOGY_CLASS_COUNT
};

enum tf_topology_link {
	TF_LINK_SELF = 0, /* "self": the same device */
	TF_LINK_NVLINK,   /* "nvlink": directly, or through NVSwitch */
	TF_LINK_PIX,      /* "pix": the paths meet at a PCIe switch */
	TF_LINK_PHB,      /* "phb": they meet at one host bridge */
	TF_LINK_NODE,     /* "node": at different host bridges of one socket */
	TF_LINK_SYS,      /* "sys": across sockets, or through a machine that does not tell */
	TF_LINK_COUNT
};

enum tf_topology_device_kind {
	TF_TOPOLOGY_DEVICE_NVIDIA = 0,
	TF_TOPOLOGY_DEVICE_AMD,   /* listed, takes no rank: no backend */
	TF_TOPOLOGY_DEVICE_OTHER, /* the same, of another maker */
	TF_TOPOLOGY_DEVICE_HOST,  /* the host device; the only rank device where it is present */
	TF_TOPOLOGY_DEVICE_KIND_COUNT
};

struct tf_topology_device {
	enum tf_topology_device_kind kind;
	char model[TF_TOPOLOGY_MODEL_BYTES]; /* for people; "10de:06d2" where nothing names it */
	uint16_t vendor_id;                  /* PCI; 0 for the host device */
	uint16_t device_id;
	char bus_id[TF_TOPOLOGY_BUS_ID_BYTES]; /* "" for the host device */
	int32_t numa_node;                     /* -1: unknown, or more than one */
	int32_t node;                          /* in `nodes`; -1 for the host device */
	bool split;                            /* divided into MIG instances: no peer access */
	bool unplaced; /* only NVML knows it: a container that shows no PCI tree */
	bool masked;   /* NVML is here and does not know it: not given to this process, takes no rank */
};

/* One ordered pair of devices. */
struct tf_topology_pair {
	enum tf_topology_link link;
	double bandwidth_gbps; /* one way, decimal gigabytes a second; 0 unknown. NVLink only: the
				  speed that a PCIe link reports falls while its device idles */
};

/* One port of an RDMA device. What could not be read is zero or empty. */
struct tf_topology_rdma {
	char name[TF_TOPOLOGY_NAME_BYTES]; /* "mlx5_0" */
	uint32_t port;                     /* from 1; 0: not read from sysfs */
	char bus_id[TF_TOPOLOGY_BUS_ID_BYTES];
	int32_t numa_node; /* -1 unknown */
	int32_t node;      /* in `nodes`; -1 if its PCI device is not in the tree */
	bool active;
	bool ethernet;    /* RoCE; false: InfiniBand or unknown */
	double rate_gbps; /* decimal gigabytes a second */
	char netdev[TF_TOPOLOGY_NAME_BYTES];
	char address[48];     /* of the netdev, as text: "10.0.0.1"; a RoCE v2 GID carries it */
	uint8_t network[16];  /* of the netdev's own prefix; IPv4 as ::ffff:a.b.c.d */
	uint32_t prefix_bits; /* as in network: an IPv4 /30 is 126; 0: no address */
};

enum tf_topology_node_kind {
	TF_NODE_MACHINE = 0,
	TF_NODE_SOCKET,
	TF_NODE_ROOT,   /* a PCI root: a host bridge */
	TF_NODE_BRIDGE, /* a root port, or a port of a PCIe switch */
	TF_NODE_DEVICE, /* `device` is its index */
	TF_NODE_NVSWITCH,
	TF_NODE_RDMA /* a PCI device that carries RDMA ports */
};

/* The tree from the machine down to the devices; a parent comes before its children. */
struct tf_topology_node {
	enum tf_topology_node_kind kind;
	int32_t parent;                    /* -1 for the machine */
	int32_t device;                    /* -1 unless TF_NODE_DEVICE */
	char name[TF_TOPOLOGY_NAME_BYTES]; /* "pci root 0", "socket 1", "0000:2d:04.0" */
};

enum tf_topology_nvml_state {
	TF_NVML_NOT_ASKED = 0, /* another machine's topology */
	TF_NVML_ABSENT,        /* links and masks come from hwloc alone */
	TF_NVML_PRESENT
};

struct tf_topology {
	char architecture[32]; /* as uname says it: "x86_64" */
	uint64_t page_bytes;   /* 0 unknown */
	enum tf_topology_nvml_state nvml;
	char nvml_cause[256]; /* why it is absent */

	struct tf_topology_device *devices; /* of the PCI tree by bus id, then unplaced ones */
	uint32_t device_count;
	struct tf_topology_pair *pairs; /* (device_count, device_count): from, to */
	struct tf_topology_rdma *rdma;  /* by name and port */
	uint32_t rdma_count;
	struct tf_topology_node *nodes;
	uint32_t node_count;

	bool host;           /* ranks run on the host device, at any world */
	uint32_t rank_count; /* GPUs that can take a rank; 0 on the host device */
	uint32_t rank_device[TF_TOPOLOGY_RANKS_MAX]; /* index in `devices` by rank */

	uint32_t world; /* the options' world, or every rank device if that was 0 or more */
	enum tf_topology_class detected; /* for that world */
};

/* Zero is the default everywhere but in `size`. All texts are borrowed for the call. */
struct tf_topology_options {
	size_t size;          /* sizeof(struct tf_topology_options) */
	const char *xml_path; /* hwloc XML of another machine; NULL: this machine (or HWLOC_XMLFILE) */
	const char *sysfs_root; /* stands for "/" when RDMA devices are looked up below sys/ and proc/;
				   NULL: "/" on this machine, none for another */
	uint32_t world;         /* ranks that `detected` is for; 0: all */
	bool host;              /* take the host device even where there are GPUs */
	const char *const *bus_ids; /* rank devices in rank order, repeats allowed (ranks that share a
				       GPU); NULL: all NVIDIA GPUs by bus id */
	uint32_t bus_id_count;
	const char *nvml_name; /* library to open as NVML, also for XML; NULL: the driver's, and only
				  on this machine */
};

/*
 * Reads a topology. `options` NULL takes every default. Blocks on file reads; on this machine
 * tens of milliseconds. Sets the environment's HWLOC_HIDE_ERRORS unless it is set, so that hwloc
 * does not print: call it before threads start. TF_E_USAGE: options of another size, world above
 * TF_TOPOLOGY_RANKS_MAX, a bus id that is none. TF_E_NOT_FOUND: no such file, or no GPU at one of
 * bus_ids. TF_E_INVALID: the file is not a topology, or is cut. TF_E_LIMIT: one of the limits
 * above. TF_E_SYSTEM, TF_E_NO_MEMORY. That NVML or RDMA devices are absent is no failure. *out is
 * destroyed with tf_topology_destroy.
 */
TF_WARN_UNUSED enum tf_status tf_topology_read(
	const struct tf_topology_options *options, struct tf_topology **out, struct tf_error *err);

/* Takes NULL. */
void tf_topology_destroy(struct tf_topology *topology);

/*
 * The class of the first `world` rank devices: `local` on the host device, `switched` if no pair of
 * them meets at a host bridge (so also for one GPU), else `host-bridge`. `ring` and `fabric` are
 * never found here: how many hosts there are is not seen from one of them; ask tf_topology_require.
 * TF_E_MISFIT: fewer than `world` rank devices, or one of several is split into MIG instances.
 */
TF_WARN_UNUSED enum tf_status tf_topology_classify(const struct tf_topology *topology,
	uint32_t world, enum tf_topology_class *out, struct tf_error *err);

/*
 * Whether the first `world` rank devices are of class `wanted`. Every class fits the host device,
 * where it only selects the ladder. `ring` and `fabric` look at this host's side of the links
 * between `world` hosts: a ring needs one active RoCE port with an address (from world 3 two, of
 * different prefixes), a fabric one whose prefix has room for more than two hosts. TF_E_MISFIT:
 * it is not; the text names the pair and the path that disagree. TF_E_USAGE: `wanted` is no
 * class.
 */
TF_WARN_UNUSED enum tf_status tf_topology_require(const struct tf_topology *topology,
	uint32_t world, enum tf_topology_class wanted, struct tf_error *err);

/*
 * One line for people on why the first `world` rank devices have their class. Cut at `size`.
 * `world` is at most rank_count, or anything on the host device.
 */
void tf_topology_explain(
	const struct tf_topology *topology, uint32_t world, char *out, size_t size);

/*
 * The location-free identity of the first `world` rank devices under the selected class: equal on
 * machines of one kind, whatever their bus ids, names and drivers' words. GPUs:
 * "gpu;class=switched;world=2;models=10de:2335,10de:2335;links=self nvlink@478/...", a row of
 * links for each rank; no links where NVML was asked for and is absent, since the tree alone does
 * not know NVLink. A model is its PCI id: its name depends on the databases that a machine has
 * installed. A link carries its bandwidth in whole decimal gigabytes a second where it is known.
 * Host device: "host;class=switched;world=4;arch=x86_64;page=4096": the architecture and the page
 * size are all that shared memory between ranks depends on; processors may differ within a fleet.
 * Under `ring` and `fabric` `world` counts all hosts' ranks, and models and links are this host's.
 * TF_TOPOLOGY_SIGNATURE_BYTES are enough for eight ranks. TF_E_MISFIT: too few rank devices.
 * TF_E_LIMIT: `size` is too small. TF_E_USAGE: `selected` is no class. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_topology_signature(const struct tf_topology *topology,
	uint32_t world, enum tf_topology_class selected, char *out, size_t size, struct tf_error *err);

/*
 * The path between two devices, as messages carry it: "0000:1a:00.0 -> pci root 0 -> 0000:3d:00.0".
 * Cut at `size`; TF_TOPOLOGY_PATH_BYTES are enough.
 */
void tf_topology_path(
	const struct tf_topology *topology, uint32_t from, uint32_t to, char *out, size_t size);

/* The pair of two devices (indices in `devices`); borrowed. */
const struct tf_topology_pair *tf_topology_pair_of(
	const struct tf_topology *topology, uint32_t from, uint32_t to);

/* The pair of two ranks, each below rank_count; borrowed. */
const struct tf_topology_pair *tf_topology_rank_pair(
	const struct tf_topology *topology, uint32_t from, uint32_t to);

/* The prefix length as people write it: 30 for an IPv4 /30, though prefix_bits is 126. */
uint32_t tf_topology_prefix_length(const struct tf_topology_rdma *rdma);

/* Names as files and people write them; NULL out of range. */
const char *tf_topology_class_name(enum tf_topology_class value);
const char *tf_topology_link_name(enum tf_topology_link value);
const char *tf_topology_device_kind_name(enum tf_topology_device_kind value);
const char *tf_topology_nvml_name(enum tf_topology_nvml_state value);

/* The value of a class name, or -1; "auto" is no class. */
int tf_topology_class_parse(const char *name);

#ifdef __cplusplus
}
#endif
#endif
