// What each part of the core has first in a model, compiled once for all of them.
#include "../model.h"
