// The same program in C++.
#include "generics.c"
