#pragma once

#include <string_view>
#include <vector>

namespace eflops::text {

/// Cuts a paragraph of plain English into sentences: views into it, in order, without the white space around them. Pure
/// and linear in the text; it looks at the neighbourhood of each end mark and at nothing else. The rules, first match
/// wins:
///
/// 1. An end mark is a run of `.`, `!`, `?` and U+2026, also with blanks between (`. . .`), and the closing quotes and
///    brackets behind it. White space or the end of the text must follow, so `3.14`, `U.S.A` and `a.m.` hold none
///    inside. CJK full stops (U+3002, U+FF01, U+FF1F) end a sentence wherever they stand.
/// 2. The next sentence must begin, behind opening quotes and brackets, with an upper-case letter, a digit, or a letter
///    without case; else no cut: `"Stop!" he said.`
/// 3. Behind a single `.`:
///    - titles and the like (`Mr. Dr. St. Gen. e.g. i.e. vs.`) never end a sentence;
///    - `No. Fig. p. Vol. Sec.` and the like do not before a digit;
///    - names of months do not before a digit;
///    - initials and abbreviations that do end sentences (`J.`, `U.S.`, `etc.`, `Inc.`, `Jr.`, `p.m.`) end one only
///    before
///      a word that often starts sentences and seldom is a name (`The`, `He`, `In`, ...);
///    - a number that is the whole sentence so far (`1. Introduction`) goes with what follows.
/// 4. An ellipsis does not end a sentence before `I`, `I'm` and the like: `Well... I think so.`
/// 5. Everything else that rule 1 names ends a sentence.
std::vector<std::string_view> split_sentences(std::string_view paragraph);

}  // namespace eflops::text
