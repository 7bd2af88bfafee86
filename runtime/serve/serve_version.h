/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of what tfrun prints and answers for machines to read. */
#ifndef TF_RUNTIME_SERVE_SERVE_VERSION_H
#define TF_RUNTIME_SERVE_SERVE_VERSION_H

/* Of every JSON document, on stdout and over HTTP: raised when a member changes or goes. */
#define TF_SERVE_JSON_VERSION 1

#endif
