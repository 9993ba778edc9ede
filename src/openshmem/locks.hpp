// Locks: who asks first gets it first. A lock's word is that of PE 0: the next number to be handed out, the number
// whose turn it is, and who has it.
#pragma once

namespace starling::openshmem {

void set_lock(long* lock);
// 0: this PE has it now; 1: it is taken.
int test_lock(long* lock);
// Throws argument_error for a lock that this PE does not have.
void clear_lock(long* lock);

}  // namespace starling::openshmem
