// What a group is doing, for people (text) and for programs (JSON): counts, each worker with its task and its stack, and a sentence
// that says why nothing moves.
#pragma once
#include <cstddef>
#include <cstdint>
namespace hc {

class Group;

enum class DumpFormat : uint32_t { kText = 0, kJson = 1 };
enum class Dumped { kOk, kNoMemory, kStopped };

using Write = int (*)(void *user, const char *text, size_t n);  // other than 0: stop

Dumped dump(Group &g, DumpFormat format, Write write, void *user);

}  // namespace hc
