// A tree of files in a temporary directory, which stands in for the root of a file system.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

class Tree {
  public:
    using Files = std::map<std::string, std::string>;

    explicit Tree(const Files &files) {
        const std::string pattern = std::filesystem::temp_directory_path() / "homecooking-tree-XXXXXX";
        path_ = pattern;
        if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory");
        for (const auto &[name, text] : files) {
            const std::filesystem::path file = std::filesystem::path(path_) / name;
            create_directories(file.parent_path());
            std::ofstream(file, std::ios::binary) << text;
        }
        root_ = open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    ~Tree() {
        close(root_);
        std::filesystem::remove_all(path_);
    }
    Tree(const Tree &) = delete;
    Tree &operator=(const Tree &) = delete;

    int root() const { return root_; }

    // Those of fixtures/<name>.txt: "== path" begins a file; what is before the first is a comment.
    static Files fixture(const std::string &name) {
        std::ifstream in(FIXTURES "/" + name + ".txt");
        if (!in) throw std::runtime_error("no fixture " + name);
        Files files;
        std::string *text = nullptr;
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with("== "))
                text = &files[line.substr(3)];
            else if (text != nullptr)
                *text += line + '\n';
        }
        return files;
    }

  private:
    std::string path_;
    int root_;
};
