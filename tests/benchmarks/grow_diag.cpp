// What a program in C++ takes to symmetrize Pharaoh files, text in and text out.
// Usage: grow_diag FORWARD REVERSE [and]   ("and" adds the step final-and)
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using Link = std::pair<int, int>;

static void parse(const std::string& line, std::vector<Link>& links) {
  links.clear();
  size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    int source = 0, target = 0;
    for (; at < line.size() && line[at] != '-'; ++at) source = 10 * source + (line[at] - '0');
    for (++at; at < line.size() && line[at] != ' '; ++at) target = 10 * target + (line[at] - '0');
    links.emplace_back(source, target);
  }
  std::sort(links.begin(), links.end());
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool final_and = argc > 3;
  std::ios::sync_with_stdio(false);
  std::ifstream forward_file(argv[1]), reverse_file(argv[2]);
  std::string forward_line, reverse_line, out;
  std::vector<Link> forward, reverse, rest, kept;
  std::vector<char> matrix, source_linked, target_linked;
  while (std::getline(forward_file, forward_line) && std::getline(reverse_file, reverse_line)) {
    parse(forward_line, forward);
    parse(reverse_line, reverse);
    int rows = 0, columns = 0;
    for (const auto* links : {&forward, &reverse})
      for (const Link& link : *links) {
        rows = std::max(rows, link.first + 1);
        columns = std::max(columns, link.second + 1);
      }
    const int stride = columns + 2;
    matrix.assign((rows + 2) * stride, 0);
    source_linked.assign(rows, 0);
    target_linked.assign(columns, 0);
    const auto cell = [&](const Link& link) -> char& {
      return matrix[(link.first + 1) * stride + link.second + 1];
    };
    const auto accept = [&](const Link& link) {
      cell(link) = 1;
      source_linked[link.first] = target_linked[link.second] = 1;
    };
    kept.clear();
    std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                          std::back_inserter(kept));
    for (const Link& link : kept) accept(link);
    rest.clear();
    std::set_symmetric_difference(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                                  std::back_inserter(rest));
    for (bool changed = true; changed;) {
      changed = false;
      for (const Link& link : rest) {
        if (cell(link) || (source_linked[link.first] && target_linked[link.second])) continue;
        const char* here = &cell(link);
        if (here[-stride - 1] || here[-stride] || here[-stride + 1] || here[-1] || here[1] ||
            here[stride - 1] || here[stride] || here[stride + 1]) {
          accept(link);
          changed = true;
        }
      }
    }
    if (final_and)
      for (const auto* links : {&forward, &reverse})
        for (const Link& link : *links)
          if (!source_linked[link.first] && !target_linked[link.second]) accept(link);
    bool first = true;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        if (matrix[(row + 1) * stride + column + 1]) {
          if (!first) out += ' ';
          first = false;
          out += std::to_string(row);
          out += '-';
          out += std::to_string(column);
        }
    out += '\n';
    if (out.size() > 1 << 16) {
      std::cout << out;
      out.clear();
    }
  }
  std::cout << out;
}
