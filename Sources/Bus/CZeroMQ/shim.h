#ifndef SEGUE_CZEROMQ_SHIM_H
#define SEGUE_CZEROMQ_SHIM_H

#include <sys/eventfd.h> /* `import Glibc` leaves this one out. */
#include <zmq.h>

#endif
