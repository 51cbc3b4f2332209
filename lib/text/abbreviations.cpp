#include "text/abbreviations.h"

#include <algorithm>
#include <iterator>

namespace eflops::text {

namespace {

// Each list is in byte order, for the binary search.
constexpr std::string_view kNeverEnds[] = {
    "Adm",  "Asst",   "Brig", "Capt",  "Cdr",  "Cmdr", "Col", "Cpl", "DR",     "Dr",  "Drs",  "Esq", "Fr", "Gen",
    "Gov",  "Hon",    "Insp", "Lieut", "Lt",   "MR",   "MRS", "Maj", "Messrs", "Mgr", "Mlle", "Mme", "Mr", "Mrs",
    "Ms",   "Msgr",   "Mt",   "Pfc",   "Pres", "Prof", "Pvt", "Rep", "Rev",    "Sen", "Sens", "Sgt", "St", "Ste",
    "Supt", "approx", "ca",   "cf",    "e.g",  "eg",   "i.e", "ie",  "v",      "viz", "vs",
};

constexpr std::string_view kBeforeNumber[] = {
    "Apr", "Art",  "Aug", "Ch",  "Chap", "Dec", "Eq", "Feb", "Fig", "Figs", "Jan",  "Jul",  "Jun",
    "Mar", "No",   "Nos", "Nov", "Oct",  "Op",  "Pp", "Sec", "Sep", "Sept", "Vol",  "Vols", "art",
    "ch",  "chap", "eq",  "fig", "figs", "nos", "p",  "pp",  "sec", "vol",  "vols",
};

constexpr std::string_view kMayEnd[] = {
    "A.D", "A.M", "Ave", "B.C", "Blvd", "Bros", "Co",  "Corp", "D.C", "Dept", "Inc", "Jr",  "Ltd", "P.M", "Ph.D",
    "Rd",  "Sr",  "U.K", "U.N", "U.S",  "Univ", "a.m", "al",   "b.c", "dept", "est", "etc", "ft",  "p.m",
};

constexpr std::string_view kFirstWords[] = {
    "A",     "After",   "All",   "Although", "An",      "And",  "As",   "At",    "Because", "Before", "But",
    "By",    "Despite", "Do",    "During",   "Each",    "For",  "From", "Had",   "Has",     "Have",   "He",
    "Her",   "Here",    "His",   "How",      "However", "I",    "If",   "In",    "It",      "Its",    "Many",
    "Most",  "My",      "No",    "Not",      "Now",     "Of",   "On",   "One",   "Or",      "Other",  "Our",
    "She",   "Since",   "So",    "Some",     "Such",    "Than", "That", "The",   "Their",   "Then",   "There",
    "These", "They",    "This",  "Those",    "Though",  "Thus", "To",   "Under", "Until",   "We",     "Were",
    "What",  "When",    "Where", "Which",    "While",   "Who",  "Why",  "With",  "Yet",     "You",    "Your",
};

bool listed(const auto& list, std::string_view word) {
  return std::binary_search(std::begin(list), std::end(list), word);
}

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// "J", "U.S", "B.B.C", "J.-P": capital letters, each alone between full stops and hyphens.
bool is_initials(std::string_view word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool letter = i % 2 == 0;
    if (letter ? word[i] < 'A' || word[i] > 'Z' : word[i] != '.') return false;
    if (!letter && i + 1 < word.size() && word[i + 1] == '-') word.remove_prefix(1);
  }
  return !word.empty() && is_ascii_letter(word.back());
}

}  // namespace

static_assert(std::is_sorted(std::begin(kNeverEnds), std::end(kNeverEnds)));
static_assert(std::is_sorted(std::begin(kBeforeNumber), std::end(kBeforeNumber)));
static_assert(std::is_sorted(std::begin(kMayEnd), std::end(kMayEnd)));
static_assert(std::is_sorted(std::begin(kFirstWords), std::end(kFirstWords)));

Abbreviation classify_abbreviation(std::string_view word) {
  if (listed(kNeverEnds, word)) return Abbreviation::NeverEnds;
  if (listed(kBeforeNumber, word)) return Abbreviation::BeforeNumber;
  if (listed(kMayEnd, word) || is_initials(word)) return Abbreviation::MayEnd;
  return Abbreviation::None;
}

bool is_usual_first_word(std::string_view word) { return listed(kFirstWords, word); }

}  // namespace eflops::text
