#pragma once

#include <string_view>

namespace eflops::text {

/// How a word with a full stop behind it bears on the end of a sentence.
enum class Abbreviation {
  None,          ///< an ordinary word
  NeverEnds,     ///< "Mr", "e.g": something always follows
  BeforeNumber,  ///< "No", "Fig", "Jan": goes on before a digit
  MayEnd,        ///< "etc", "Inc", "U.S", "J": ends a sentence only before a usual first word
};

/// Looks a word up, without its last full stop; case counts only where it must ("no" is a word, "No" may be "number").
Abbreviation classify_abbreviation(std::string_view word);

/// Words that often begin a sentence and are seldom names.
bool is_usual_first_word(std::string_view word);

}  // namespace eflops::text
