#ifndef SEGUE_CEVENTDESCRIPTOR_SHIM_H
#define SEGUE_CEVENTDESCRIPTOR_SHIM_H

#include <sys/eventfd.h> /* `import Glibc` leaves this one out. */

#endif
