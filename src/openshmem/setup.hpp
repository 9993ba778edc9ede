// Beginning and ending, and questions about PEs, addresses and the library.
#pragma once

#include "shmem.h"

namespace starling::openshmem {

// Each is undone by one finalize; the last one ends the job's part in OpenSHMEM. It may begin again.
void init(int requested);
int init_thread(int requested, int* provided);
void start_once(int n);
void finalize();
void query_thread(int* provided);
void query_initialized(int* initialized);

int my_pe();
int n_pes();
int pe_accessible(int pe);
int addr_accessible(const void* address, int pe);
void* ptr(const void* address, int pe);
void* team_ptr(shmem_team_t team, const void* address, int pe);
void info_get_version(int* major, int* minor);
void info_get_name(char* name);

// Of the caches that old machines had.
void cache();
void cache_line(const void* address);

}  // namespace starling::openshmem
