#include "sync/lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tree.h"

namespace {

using Strings = std::vector<std::string>;

Strings lines_of(const std::string &text) {
    Tree tree(Tree::Files{{"file", text}});
    hc::Lines<8> lines;
    EXPECT_TRUE(lines.open(tree.root(), "/file"));
    Strings got;
    for (std::string_view line; lines.next(&line);) got.emplace_back(line);
    std::string_view none;
    EXPECT_FALSE(lines.next(&none)) << "the end stays the end";
    return got;
}

}  // namespace

TEST(Lines, AreReadOneByOneWhereverTheBufferEnds) {
    EXPECT_EQ(lines_of(""), Strings{});
    EXPECT_EQ(lines_of("\n"), Strings{""});
    EXPECT_EQ(lines_of("a\nbc\n\ndef\n"), (Strings{"a", "bc", "", "def"}));
    EXPECT_EQ(lines_of("123456\n123456\n1234567\n"), (Strings{"123456", "123456", "1234567"}));
}

TEST(Lines, TheLastNeedsNoNewline) {
    EXPECT_EQ(lines_of("a\nb"), (Strings{"a", "b"}));
    EXPECT_EQ(lines_of("1234567"), Strings{"1234567"});
}

TEST(Lines, WhatIsTooLongIsLeftOutAndNotItsNeighbours) {
    for (size_t length = 1; length < 40; length++) {
        const std::string line(length, 'x');
        const bool fits = length < 8;
        EXPECT_EQ(lines_of("a\n" + line + "\nb\n"), (fits ? Strings{"a", line, "b"} : Strings{"a", "b"})) << length;
        EXPECT_EQ(lines_of(line + "\nb\n"), (fits ? Strings{line, "b"} : Strings{"b"})) << length;
        EXPECT_EQ(lines_of(line + "\n" + line + "\nb"), (fits ? Strings{line, line, "b"} : Strings{"b"})) << length;
        EXPECT_EQ(lines_of("b\n" + line), (fits ? Strings{"b", line} : Strings{"b"})) << length;
    }
}

TEST(Lines, WhatCannotBeReadHasNone) {
    Tree tree(Tree::Files{{"folder/file", "a"}});
    hc::Lines<8> lines;
    std::string_view line;
    EXPECT_FALSE(lines.open(tree.root(), "/missing"));
    EXPECT_TRUE(lines.open(tree.root(), "/folder"));
    EXPECT_FALSE(lines.next(&line));
}
