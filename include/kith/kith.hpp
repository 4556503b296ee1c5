// Everything: k-nearest-neighbor search, also of batches, radius search, graphs, reductions, selection.
#pragma once

#include "kith/batches.hpp"
#include "kith/error.hpp"
#include "kith/graph.hpp"
#include "kith/index.hpp"
#include "kith/machine.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "kith/quality.hpp"
#include "kith/radius.hpp"
#include "kith/reduce.hpp"
#include "kith/search.hpp"
#include "kith/topk.hpp"
#include "kith/tune.hpp"
#include "kith/version.hpp"
