// expect: parameter_of_the_body<2, starling::stf::detail::wanted<float*>, starling::stf::detail::given<double&> >
#include "starling/stf/detail/invocable_check.hpp"

// The message names the type that is wanted and the one that is given.
const auto body = [](int, float*, char) {};
constexpr bool wrong = starling::stf::check_callable<decltype(body), int, double&, char>();
