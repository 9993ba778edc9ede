/* What Starling has beyond OpenSHMEM: errors. */
#ifndef STARLING_SHMEMX_H
#define STARLING_SHMEMX_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  SHMEMX_ERROR_NONE,
  SHMEMX_ERROR_ARGUMENT,    /* a value that is not allowed, or that PEs differ in */
  SHMEMX_ERROR_RANGE,       /* a PE, an address or a count out of range */
  SHMEMX_ERROR_MEMORY,      /* the symmetric heap does not suffice */
  SHMEMX_ERROR_STALL,       /* another PE did not come, or a wait has lasted too long */
  SHMEMX_ERROR_PROCESS,     /* another PE's process has died */
  SHMEMX_ERROR_UNSUPPORTED, /* the machine or the launcher lacks something */
  SHMEMX_ERROR_OTHER
} shmemx_error_t;

/* Called with an error of a function that cannot return one. When it returns, the function returns too, having done
   nothing: what returns a value returns 0. The text is valid until then. */
typedef void (*shmemx_error_handler_t)(shmemx_error_t error, const char* text);

/* The handler of this PE, and the one before. NULL is the first one: it writes the text to stderr and ends the job by
   shmem_global_exit(1). */
shmemx_error_handler_t shmemx_set_error_handler(shmemx_error_handler_t handler);

/* The last error of this thread, and its text. Functions that return an int or a pointer say nonzero or NULL, write
   the text to stderr and go on. */
shmemx_error_t shmemx_last_error(void);
const char* shmemx_last_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
