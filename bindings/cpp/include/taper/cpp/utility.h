/* SPDX-License-Identifier: BSD-2-Clause */
// Small helpers of c10/util: irange, MaybeOwned, OptionalRef, hashes, products, texts and others.
#ifndef TAPER_CPP_UTILITY_H
#define TAPER_CPP_UTILITY_H

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include <taper/cpp/half.h>
#include <taper/cpp/optional.h>
#include <taper/cpp/small_vector.h>
#include <taper/cpp/string_view.h>

namespace c10
{

// The integers from begin to before end, for a loop: for (auto i : c10::irange(3)).
template <class I> class integer_range
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = I;
        using difference_type = std::ptrdiff_t;
        using pointer = I *;
        using reference = I &;
        explicit constexpr iterator(I value) : value_(value)
        {
        }
        constexpr I operator*() const
        {
            return value_;
        }
        constexpr const I *operator->() const
        {
            return &value_;
        }
        iterator &operator++()
        {
            ++value_;
            return *this;
        }
        iterator operator++(int)
        {
            const iterator before = *this;
            ++value_;
            return before;
        }
        constexpr bool operator==(const iterator &other) const
        {
            return value_ == other.value_;
        }
        constexpr bool operator!=(const iterator &other) const
        {
            return value_ != other.value_;
        }

      private:
        I value_;
    };
    constexpr integer_range(I begin, I end) : begin_(begin), end_(end)
    {
    }
    constexpr iterator begin() const
    {
        return begin_;
    }
    constexpr iterator end() const
    {
        return end_;
    }

  private:
    iterator begin_, end_;
};
template <class I, std::enable_if_t<std::is_integral<I>::value, int> = 0> constexpr integer_range<I> irange(I end)
{
    return {I(), end < I() ? I() : end};
}
template <class I, class J, std::enable_if_t<std::is_integral<I>::value && std::is_integral<J>::value, int> = 0>
constexpr integer_range<J> irange(I begin, J end)
{
    return {static_cast<J>(begin), static_cast<J>(begin) > end ? static_cast<J>(begin) : end};
}

// A reference that may be missing.
template <class T> class OptionalRef
{
  public:
    OptionalRef() : data_(nullptr)
    {
    }
    OptionalRef(const T *data) : data_(data)
    {
        TORCH_INTERNAL_ASSERT(data_);
    }
    OptionalRef(const T &data) : data_(&data)
    {
    }
    bool has_value() const
    {
        return data_ != nullptr;
    }
    const T &get() const
    {
        TORCH_INTERNAL_ASSERT(data_);
        return *data_;
    }
    operator bool() const
    {
        return has_value();
    }

  private:
    const T *data_;
};

// Either a value that it owns, or a reference to a value that must outlive it.
template <class T> class MaybeOwned final
{
  public:
    MaybeOwned() : borrowed_(nullptr)
    {
    }
    static MaybeOwned borrowed(const T &value)
    {
        MaybeOwned made;
        made.borrowed_ = &value;
        return made;
    }
    static MaybeOwned owned(T &&value)
    {
        MaybeOwned made;
        made.own_ = std::move(value);
        return made;
    }
    template <class... Args> static MaybeOwned owned(in_place_t, Args &&...args)
    {
        return owned(T(std::forward<Args>(args)...));
    }
    const T &operator*() const &
    {
        return borrowed_ != nullptr ? *borrowed_ : own_;
    }
    const T *operator->() const
    {
        return borrowed_ != nullptr ? borrowed_ : &own_;
    }
    T operator*() &&
    {
        return borrowed_ != nullptr ? *borrowed_ : std::move(own_);
    }
    bool unsafeIsBorrowed() const
    {
        return borrowed_ != nullptr;
    }

  private:
    T own_{};
    const T *borrowed_;
};

inline size_t hash_combine(size_t seed, size_t value)
{
    return seed ^ (value + 0x9e3779b9 + (seed << 6U) + (seed >> 2U));
}
template <class T> struct hash {
    size_t operator()(const T &value) const
    {
        return std::hash<T>()(value);
    }
};
template <class A, class B> struct hash<std::pair<A, B>> {
    size_t operator()(const std::pair<A, B> &pair) const
    {
        return hash_combine(hash<A>()(pair.first), hash<B>()(pair.second));
    }
};
template <class T> struct hash<ArrayRef<T>> {
    size_t operator()(ArrayRef<T> all) const
    {
        size_t seed = 0;
        for (const T &each : all) {
            seed = hash_combine(seed, hash<T>()(each));
        }
        return seed;
    }
};
template <class T> struct hash<std::vector<T>> {
    size_t operator()(const std::vector<T> &all) const
    {
        return hash<ArrayRef<T>>()(all);
    }
};
inline size_t get_hash()
{
    return 0;
}
template <class T, class... Rest> size_t get_hash(const T &first, const Rest &...rest)
{
    return hash_combine(hash<T>()(first), get_hash(rest...));
}

template <class Iterator> int64_t sum_integers(Iterator begin, Iterator end)
{
    return std::accumulate(begin, end, static_cast<int64_t>(0));
}
template <class C> int64_t sum_integers(const C &all)
{
    return sum_integers(all.begin(), all.end());
}
template <class Iterator> int64_t multiply_integers(Iterator begin, Iterator end)
{
    return std::accumulate(begin, end, static_cast<int64_t>(1), [](int64_t a, int64_t b) { return a * b; });
}
template <class C> int64_t multiply_integers(const C &all)
{
    return multiply_integers(all.begin(), all.end());
}
// The products of the sizes from dimension k on, before dimension k, and from dimension k to before l.
template <class C> int64_t numelements_from_dim(const int k, const C &sizes)
{
    return k > static_cast<int>(sizes.size()) ? 1 : multiply_integers(sizes.begin() + k, sizes.end());
}
template <class C> int64_t numelements_to_dim(const int k, const C &sizes)
{
    TORCH_INTERNAL_ASSERT(k >= 0 && k <= static_cast<int>(sizes.size()));
    return multiply_integers(sizes.begin(), sizes.begin() + k);
}
template <class C> int64_t numelements_between_dim(int k, int l, const C &sizes)
{
    TORCH_INTERNAL_ASSERT(k >= 0 && l >= 0);
    const auto first = sizes.begin() + (k < l ? k : l), last = sizes.begin() + (k < l ? l : k);
    TORCH_INTERNAL_ASSERT(last <= sizes.end());
    return multiply_integers(first, last);
}

// Return true if the result does not fit into *out.
inline bool add_overflows(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a + b;
    return *out < a;
}
inline bool mul_overflows(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a * b;
    return a != 0 && b > std::numeric_limits<uint64_t>::max() / a;
}
template <class Iterator> bool safe_multiplies_u64(Iterator begin, Iterator end, uint64_t *out)
{
    uint64_t product = 1;
    bool overflows = false;
    for (; begin != end; ++begin) {
        overflows |= mul_overflows(product, static_cast<uint64_t>(*begin), &product);
    }
    *out = product;
    return overflows;
}
template <class C> bool safe_multiplies_u64(const C &all, uint64_t *out)
{
    return safe_multiplies_u64(all.begin(), all.end(), out);
}

using std::stod;
using std::stoi;
using std::stoll;
using std::stoull;
using std::to_string;
template <class C> std::string Join(const std::string &between, const C &all)
{
    std::ostringstream out;
    size_t rest = all.size();
    for (const auto &each : all) {
        out << each << (--rest == 0 ? "" : between);
    }
    return out.str();
}
// Replaces each occurrence of `from` in text, and returns the number of occurrences.
inline size_t ReplaceAll(std::string &text, string_view from, string_view to)
{
    if (from.empty()) {
        return 0;
    }
    size_t count = 0;
    for (size_t at = 0; (at = text.find(from.data(), at, from.size())) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to.data(), to.size());
        count++;
    }
    return count;
}
inline bool isPrint(char c)
{
    return c >= 0x20 && c < 0x7f;
}

// Calls a function at the end of a scope.
template <class F> class scope_exit
{
  public:
    explicit scope_exit(F work) : work_(std::move(work)), active_(true)
    {
    }
    scope_exit(scope_exit &&other) : work_(std::move(other.work_)), active_(std::exchange(other.active_, false))
    {
    }
    ~scope_exit()
    {
        if (active_) {
            work_();
        }
    }
    scope_exit &operator=(scope_exit &&) = delete;
    void release()
    {
        active_ = false;
    }

  private:
    F work_;
    bool active_;
};
template <class F> scope_exit<std::decay_t<F>> make_scope_exit(F &&work)
{
    return scope_exit<std::decay_t<F>>(std::forward<F>(work));
}

using std::call_once;
using std::once_flag;
template <class... F> struct Overloaded;
template <class F> struct Overloaded<F> : F {
    explicit Overloaded(F work) : F(std::move(work))
    {
    }
    using F::operator();
};
template <class F, class... Rest> struct Overloaded<F, Rest...> : F, Overloaded<Rest...> {
    explicit Overloaded(F work, Rest... rest) : F(std::move(work)), Overloaded<Rest...>(std::move(rest)...)
    {
    }
    using F::operator();
    using Overloaded<Rest...>::operator();
};
template <class... F> Overloaded<F...> overloaded(F... work)
{
    return Overloaded<F...>(std::move(work)...);
}

template <class T, class U> auto copysign(const T &value, const U &sign) -> decltype(std::copysign(value, sign))
{
    return std::copysign(value, sign);
}
inline Half copysign(Half value, Half sign)
{
    return Half(static_cast<uint16_t>((value.x & 0x7fffU) | (sign.x & 0x8000U)), Half::from_bits());
}
inline BFloat16 copysign(BFloat16 value, BFloat16 sign)
{
    return BFloat16(static_cast<uint16_t>((value.x & 0x7fffU) | (sign.x & 0x8000U)), BFloat16::from_bits());
}

// Calls work(0), …, work(n - 1).
template <int n> struct ForcedUnroll {
    template <class F> void operator()(const F &work) const
    {
        ForcedUnroll<n - 1>()(work);
        work(n - 1);
    }
};
template <> struct ForcedUnroll<1> {
    template <class F> void operator()(const F &work) const
    {
        work(0);
    }
};

#define TAPER_CPP_NUMBER(name, value) template <class T> constexpr T name = static_cast<T>(value);
TAPER_CPP_NUMBER(e, 2.718281828459045235360287471352662498L)
TAPER_CPP_NUMBER(euler, 0.577215664901532860606512090082402431L)
TAPER_CPP_NUMBER(frac_1_pi, 0.318309886183790671537767526745028724L)
TAPER_CPP_NUMBER(frac_1_sqrt_pi, 0.564189583547756286948079451560772586L)
TAPER_CPP_NUMBER(frac_sqrt_2, 0.707106781186547524400844362104849039L)
TAPER_CPP_NUMBER(frac_sqrt_3, 0.577350269189625764509148780501957456L)
TAPER_CPP_NUMBER(golden_ratio, 1.618033988749894848204586834365638118L)
TAPER_CPP_NUMBER(ln_10, 2.302585092994045684017991454684364208L)
TAPER_CPP_NUMBER(ln_2, 0.693147180559945309417232121458176568L)
TAPER_CPP_NUMBER(log_10_e, 0.434294481903251827651128918916605082L)
TAPER_CPP_NUMBER(log_2_e, 1.442695040888963407359924681001892137L)
TAPER_CPP_NUMBER(pi, 3.141592653589793238462643383279502884L)
TAPER_CPP_NUMBER(sqrt_2, 1.414213562373095048801688724209698079L)
TAPER_CPP_NUMBER(sqrt_3, 1.732050807568877293527446341505872367L)
#undef TAPER_CPP_NUMBER

// Returns true if an environment variable is "1", false if it is "0", and nothing for other texts.
namespace utils
{
inline optional<bool> check_env(const char *name)
{
    const char *const text = std::getenv(name);
    if (text == nullptr) {
        return nullopt;
    }
    const std::string value = text;
    if (value != "0" && value != "1") {
        TORCH_WARN("Ignoring invalid value for boolean flag ", name, ": ", value, "valid values are 0 or 1.");
        return nullopt;
    }
    return value == "1";
}
} // namespace utils
// Has no effect: threads keep the names that the system gives them.
inline void setThreadName(std::string)
{
}

// Returns work(x) for each x.
template <class F, class T> auto fmap(const T &all, const F &work) -> std::vector<decltype(work(*all.begin()))>
{
    std::vector<decltype(work(*all.begin()))> results;
    results.reserve(all.size());
    for (const auto &each : all) {
        results.push_back(work(each));
    }
    return results;
}
template <class R, class T> std::vector<R> fmap(const T &all)
{
    return std::vector<R>(all.begin(), all.end());
}
template <class F, class T> std::vector<T> filter(ArrayRef<T> all, const F &wanted)
{
    std::vector<T> found;
    for (const T &each : all) {
        if (wanted(each)) {
            found.push_back(each);
        }
    }
    return found;
}
template <class F, class T> std::vector<T> filter(const std::vector<T> &all, const F &wanted)
{
    return filter(ArrayRef<T>(all), wanted);
}

} // namespace c10

namespace at
{
template <class T, class = std::enable_if_t<std::is_integral<T>::value>> constexpr T ceil_div(T a, T b)
{
    return (a + b - 1) / b;
}
template <class T> constexpr T round_up(T a, T b)
{
    return ceil_div(a, b) * b;
}
template <class T> T div_rtn(T x, T y)
{
    T quotient = x / y;
    const T rest = x % y;
    return rest != 0 && ((rest < 0) != (y < 0)) ? quotient - 1 : quotient;
}
struct Range {
    Range(int64_t from, int64_t to) : begin(from), end(to)
    {
    }
    int64_t size() const
    {
        return end - begin;
    }
    Range operator/(int64_t divisor)
    {
        return Range(begin / divisor, end / divisor);
    }
    int64_t begin, end;
};
inline std::ostream &operator<<(std::ostream &out, const Range &range)
{
    return out << "Range[" << range.begin << ", " << range.end << "]";
}
namespace Reduction
{
enum Reduction { None, Mean, Sum, END };
}
} // namespace at

#endif
