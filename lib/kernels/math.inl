// Elementary functions on float vectors; toggling guard as in simd.inl. Coefficients are our own minimax fits (Lawson's
// iteration on Chebyshev points, in double); the error given is that of the fit, before float rounding. Highway 1.0.3's
// IfNegativeThenElse is wrong for float on SSSE3 (it selects bit by bit): compare and select instead.
#if defined(EFLOPS_KERNELS_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef EFLOPS_KERNELS_MATH_INL
#undef EFLOPS_KERNELS_MATH_INL
#else
#define EFLOPS_KERNELS_MATH_INL
#endif

#include "kernels/simd.inl"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {

/// Horner's rule: c[0] + c[1] x + ...
template <std::size_t N>
HWY_INLINE Vector polynomial(Vector x, const float (&c)[N]) {
  Vector sum = broadcast(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, broadcast(c[i]));
  return sum;
}

/// e^x for x <= 0, within 2 units in the last place; 0 below -87.33 (no denormals), NaN for NaN.
/// x = k ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite 1980); e^r to 2e-9 by degree 6. Adding 1.5 2^23 rounds x / ln 2
/// to the integer k in the lowest bits of the sum, and 127 more makes these bits the exponent field of 2^k.
HWY_INLINE Vector exp_nonpositive(Vector x) {
  const Vector shift = broadcast(12582912.0F + 127.0F);
  const Vector sum = hn::MulAdd(x, broadcast(1.44269504F), shift);
  const Vector k = hn::Sub(sum, shift);
  Vector r = hn::NegMulAdd(k, broadcast(0.693359375F), x);
  r = hn::NegMulAdd(k, broadcast(-2.12194440e-4F), r);
  const Vector p =
      polynomial(r, {1.0F, 1.0F, 0.4999999421F, 0.1666643117F, 0.0416680026F, 0.0083741637F, 0.0013843644F});
  const Vector power = hn::BitCast(Tag(), hn::ShiftLeft<23>(hn::BitCast(UintTag(), sum)));
  return hn::IfThenZeroElse(hn::Lt(x, broadcast(-87.33F)), hn::Mul(p, power));
}

/// The standard normal distribution: cdf(x), and pdf(x) = exp(-x^2/2) / sqrt(2 pi).
struct Normal {
  Vector cdf;
  Vector pdf;
};

/// Both with small relative error, also far in the tails; anything for NaN: cdf(-a) = exp(-a^2/2) R(a) for a >= 0,
/// where R(a) = erfc(a/sqrt 2) exp(a^2/2) / 2 is fitted on [0, 14] by a ratio of degrees 4 and 5 to 6e-9 (the form of
/// Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 1969).
HWY_INLINE Normal normal(Vector x) {
  const Vector a = hn::Min(hn::Abs(x), broadcast(14.0F));
  const Vector e = exp_nonpositive(hn::Mul(hn::Mul(a, broadcast(-0.5F)), a));
  const Vector p = polynomial(a, {0.500000003F, 0.437249137F, 0.182460461F, 0.0403720757F, 0.00407753372F});
  const Vector q = polynomial(a, {1.0F, 1.67238323F, 1.19928516F, 0.46742547F, 0.101204597F, 0.0102207325F});
  const Vector tail = hn::Div(hn::Mul(e, p), q);
  const Vector cdf = hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), tail, hn::Sub(broadcast(1.0F), tail));
  return {cdf, hn::Mul(e, broadcast(0.398942280F))};
}

/// 1 / (1 + e^-x), with small relative error also for x < 0: e^x / (1 + e^x).
HWY_INLINE Vector sigmoid(Vector x) {
  const Vector one = broadcast(1.0F);
  const Vector e = exp_nonpositive(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), e, one), hn::Add(one, e));
}

/// tanh: odd polynomial of degree 11 below 0.625 (4e-9), (1 - e^-2|x|) / (1 + e^-2|x|) above.
HWY_INLINE Vector tanh(Vector x) {
  const Vector one = broadcast(1.0F);
  const Vector a = hn::Abs(x);
  const Vector u = hn::Mul(x, x);
  const Vector p = polynomial(u, {-0.3333328194F, 0.1333144218F, -0.0537397133F, 0.0206390814F, -0.0057049804F});
  const Vector near = hn::MulAdd(hn::Mul(x, u), p, x);
  const Vector e = exp_nonpositive(hn::Mul(a, broadcast(-2.0F)));
  const Vector far = hn::Div(hn::Sub(one, e), hn::Add(one, e));
  return hn::IfThenElse(hn::Lt(a, broadcast(0.625F)), near, hn::CopySignToAbs(far, x));
}

}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
