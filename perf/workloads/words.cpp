#include "words.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace perf {
namespace {

std::string read_file(const std::string &path, size_t most) {
    std::string text;
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text;
    struct stat info {};
    if (fstat(fd, &info) == 0) text.resize(std::min(most, static_cast<size_t>(info.st_size)));
    size_t filled = 0;
    while (filled < text.size()) {
        ssize_t n = read(fd, text.data() + filled, text.size() - filled);
        if (n <= 0) break;
        filled += static_cast<size_t>(n);
    }
    close(fd);
    text.resize(filled);
    return text;
}

bool looks_like_text(const std::string &path) {
    std::string begin = read_file(path, 4096);
    return !begin.empty() && !begin.starts_with("\x1f\x8b") && std::memchr(begin.data(), 0, begin.size()) == nullptr;
}

// The byte in lower case where it belongs to a word, otherwise 0.
struct WordBytes {
    std::array<char, 256> lower{};
    constexpr WordBytes() {
        for (int c = 0; c < 256; ++c) {
            bool upper = c >= 'A' && c <= 'Z';
            if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c > 127)
                lower[static_cast<size_t>(c)] = static_cast<char>(upper ? c + 32 : c);
        }
    }
};
constexpr WordBytes word_bytes;

}  // namespace

void WordCount::add(std::string_view word, uint64_t n) {
    WordMap &map = part[WordHash{}(word) % parts];
    if (auto known = map.find(word); known != map.end())
        known->second += n;
    else
        map.emplace(word, n);
}

size_t WordCount::distinct() const {
    size_t n = 0;
    for (const WordMap &map : part) n += map.size();
    return n;
}

std::vector<TextFile> text_files(const std::string &folder, uint64_t most_bytes) {
    namespace fs = std::filesystem;
    std::vector<TextFile> files;
    std::error_code error;
    uint64_t sum = 0;
    for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end && sum < most_bytes; it.increment(error)) {
        std::error_code unreadable;
        if (it->is_symlink(unreadable) || !it->is_regular_file(unreadable)) continue;
        uint64_t bytes = it->file_size(unreadable);
        if (unreadable || bytes == 0 || sum + bytes > most_bytes || !looks_like_text(it->path().string())) continue;
        files.push_back({it->path().string(), bytes});
        sum += bytes;
    }
    std::sort(files.begin(), files.end(), [](const TextFile &a, const TextFile &b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.path < b.path;
    });
    return files;
}

void count_words(const std::string &path, WordCount &count) {
    std::string text = read_file(path, SIZE_MAX);
    size_t begin = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        char c = i < text.size() ? word_bytes.lower[static_cast<unsigned char>(text[i])] : '\0';
        if (c) {
            text[i] = c;
            continue;
        }
        if (i > begin) count.add({text.data() + begin, i - begin});
        begin = i + 1;
    }
}

void merge_part(std::vector<WordCount> &from, size_t p, WordCount &into) {
    WordMap &sum = into.part[p];
    for (WordCount &count : from) {
        if (sum.empty()) {
            sum.swap(count.part[p]);
            continue;
        }
        for (const auto &[word, n] : count.part[p]) sum[word] += n;
        WordMap{}.swap(count.part[p]);
    }
}

}  // namespace perf
