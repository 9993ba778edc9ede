// All of Starling up to the machine: what a program with its own kernels includes.
#pragma once

#include "starling/machine/machine.hpp"
