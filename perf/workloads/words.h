// Counting words, the part of W8 that knows no pool. A word is a run of ASCII letters, digits and bytes above 127, in
// lower case. A count is split by hash into 16 parts, so that the counts of many workers can be merged by 16 tasks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace perf {

struct WordHash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
};
using WordMap = std::unordered_map<std::string, uint64_t, WordHash, std::equal_to<>>;

struct WordCount {
    static constexpr size_t parts = 16;
    std::array<WordMap, parts> part;

    void add(std::string_view word, uint64_t n = 1);
    bool operator==(const WordCount &) const = default;
    size_t distinct() const;
};

struct TextFile {
    std::string path;
    uint64_t bytes;
};

// The regular files under `folder` that look like text (no NUL byte at their begin, not compressed), largest first, as
// many as fit into `most_bytes`.
std::vector<TextFile> text_files(const std::string &folder, uint64_t most_bytes);

// Reads the file and adds its words. A file that cannot be read counts as empty.
void count_words(const std::string &path, WordCount &count);

// Adds part `p` of all `from`, which are left empty, into part `p` of `into`.
void merge_part(std::vector<WordCount> &from, size_t p, WordCount &into);

}  // namespace perf
