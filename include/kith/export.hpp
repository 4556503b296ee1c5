// Symbols are hidden unless marked KITH_API.
#pragma once

#define KITH_API __attribute__((visibility("default")))
