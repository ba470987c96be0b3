// Everything long that the core does, as calls that return numbers: the same
// ones for any number of threads, and from the same object again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "example.h"

namespace groundmetric::fuzz {

using Numbers = std::vector<double>;
struct Call {
    std::string name;
    // Makes the object that is called, and a function that calls it.
    std::function<std::function<Numbers(const Threading&)>()> make;
    // Results depend on what other threads call in between.
    bool remembers = false;
};
std::vector<Call> all_calls(const Example& example, int n, int d);

}  // namespace groundmetric::fuzz
