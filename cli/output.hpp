// Where an answer goes: checked before the work starts, written whole after it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "kith/io.hpp"

namespace kith::cli {

// What an answer consists of, which decides the formats that can hold it.
enum class Shape {
  unknown,    // whatever the input holds
  array,      // one array
  ids,        // one array of int64
  neighbors,  // ids and distances
  table,      // several arrays with equal row counts
  named,      // several arrays of any lengths
};

struct Content {
  Shape shape = Shape::unknown;
  std::int64_t cols = 0;  // of each array; 0: not known yet
};

// Refuses what could only fail later: a format that cannot be told, cannot hold the answer or is not compressed
// (invalid_argument), a folder that is missing or not writable (cannot_write), and --json beside data on stdout.
// The first takes format and --compress from the settings, the second the path too.
void check_output(const std::string& path, const OutputSettings& settings, Content content);
void check_output(const OutputSettings& settings, Content content, const Context& context);

// What a command has to give, and where it goes. Only the forms that are asked for are made.
struct Answer {
  Json json;                               // the object that --json prints
  std::function<void(Json&)> add_to_json;  // puts the data itself into it
  std::function<void()> print_text;        // the data for people, on stdout
  bool as_text = false;                    // the data goes to stdout as text or, with --json, inside the object
  std::vector<io::Output> outputs;         // files, or stdout as "-" with a format
};

// Writes the files first, then stdout.
void deliver(Answer& answer, const Context& context);

// An answer that is a single array, called `name`; as text it is csv.
void deliver_array(Answer& answer, const std::string& name, const io::Array& array, const OutputSettings& settings,
                   const Context& context);

}  // namespace kith::cli
