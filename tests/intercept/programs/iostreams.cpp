// iostreams.cpp - files by the C++ library, in a folder that has in/text and in/other. SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace files = std::filesystem;

int main() {
  std::ofstream out("numbers");
  for (int i = 0; i < 20000; i++) out << i << ' ' << i * 0.5 << '\n';
  out.close();

  std::fstream both("numbers", std::ios::in | std::ios::out);
  both.seekp(100);
  both << "XX" << std::flush;
  both.seekg(0);
  std::size_t characters = 0;
  for (std::string line; std::getline(both, line);) characters += line.size();

  files::copy("in", "copy", files::copy_options::recursive);
  files::rename("copy/text", "moved");
  std::ifstream moved("moved", std::ios::binary);
  std::stringstream text;
  text << moved.rdbuf();
  std::cout << characters << ' ' << text.str().size() << ' ' << files::file_size("moved") << std::endl;
}
