#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <utility>

#include "bindings.hpp"
#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "turns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

using cg::matrix_facts;
using cg::solve_options;
using cg::solve_result;

template <class T>
using values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Columns, one after another in memory.
template <class T>
using columns_of = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using places = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Python's view of a solve: a function of (column, iterations, residual, target), and the signals of the process. What
// it raises ends the solve, and is raised again once the solve has ended.
class watcher {
 public:
  watcher(nb::handle f, turn& during) : function_(f), turn_(during) {}

  bool operator()(const cg::progress& at) {
    return turn_.pausing([&] {
      const nb::gil_scoped_acquire locked;
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!function_.is_none()) function_(at.column, at.iterations, at.residual, at.target);
      } catch (...) {
        raised_ = std::current_exception();
      }
      return raised_ == nullptr;
    });
  }

  const std::exception_ptr& raised() const { return raised_; }

 private:
  nb::handle function_;
  turn& turn_;
  std::exception_ptr raised_;
};

// A linear system for Python: calls from several threads take turns. Array arguments are checked in Python.
template <class T>
class linear_system {
 public:
  linear_system(const machine& m, const cg::csr_view<T>& a, const cg::matrix_options& options)
      : turns_(m.kind() == machine_kind::cuda), solver_(m, a, options) {}

  std::vector<solve_result> solve(const columns_of<const T>& b, const columns_of<T>& x, const solve_options& options,
                                  nb::handle watch, bool each) {
    expect_rows(b.shape(1), "a column of b");
    expect_rows(x.shape(1), "a column of x");
    expect<argument_error>(b.shape(0) == x.shape(0), "b has ", b.shape(0), " columns, x ", x.shape(0),
                           "; they must be equal");
    std::exception_ptr raised;
    std::vector<solve_result> r;
    {
      const nb::gil_scoped_release unlocked;
      turn mine(turns_, "the matrix");
      watcher watching(watch, mine);
      r = solver_.solve_columns(b.data(), x.data(), static_cast<index_t>(b.shape(0)), options, std::ref(watching),
                                each);
      raised = watching.raised();
    }
    if (raised) std::rethrow_exception(std::exchange(raised, nullptr));
    return r;
  }

  void multiply(const values<T>& x, const places<T>& y) {
    expect_rows(x.size(), "x");
    expect_rows(y.size(), "y");
    const nb::gil_scoped_release unlocked;
    const turn mine(turns_, "the matrix");
    solver_.multiply(x.data(), y.data());
  }

  std::vector<double> time_multiply(int products, int repetitions) {
    const nb::gil_scoped_release unlocked;
    const turn mine(turns_, "the matrix");
    return solver_.time_multiply(products, repetitions);
  }

  const matrix_facts& facts() const { return solver_.facts(); }

 private:
  void expect_rows(std::size_t n, const char* name) const {
    expect<argument_error>(static_cast<index_t>(n) == facts().rows, name, " has ", n, " elements, the matrix ",
                           facts().rows, " rows; they must be equal");
  }

  turns turns_;
  cg::solver<T> solver_;
};

template <class T>
void bind_system(nb::module_& m, const char* name) {
  using system = linear_system<T>;
  nb::class_<system>(m, name)
      .def(
          "__init__",
          [](system* self, bound_machine& on, const values<index_t>& row_start, const values<std::int32_t>& column,
             const values<T>& value, const std::string& split, const std::string& storage,
             const std::vector<index_t>& first_rows, index_t block_size, bool products_only) {
            expect<argument_error>(row_start.size() > 0 && column.size() == value.size() &&
                                       row_start.data()[row_start.size() - 1] == static_cast<index_t>(value.size()),
                                   "row_start, column and value do not fit together");
            const auto rows = static_cast<index_t>(row_start.size()) - 1;
            const machine where = on.get();
            const nb::gil_scoped_release unlocked;
            new (self) system(where, {rows, rows, row_start.data(), column.data(), value.data()},
                              {.split = cg::row_split_named(split),
                               .first_rows = first_rows,
                               .how = cg::storage_named(storage),
                               .block_size = block_size,
                               .products_only = products_only});
          },
          "machine"_a, "row_start"_a, "column"_a, "value"_a, nb::kw_only(), "split"_a, "storage"_a, "first_rows"_a,
          "block_size"_a, "products_only"_a)
      .def(
          "solve",
          [](system& self, const columns_of<const T>& b, const columns_of<T>& x, const std::string& method,
             const std::string& control, const std::string& preconditioner, int degree, double rtol, double atol,
             index_t max_iterations, bool fixed, index_t replace_every, int blocks, int threads, double deadline,
             nb::handle watch, bool each) {
            const solve_options options{.how = cg::method_named(method),
                                        .who = cg::control_named(control),
                                        .m = cg::preconditioner_named(preconditioner),
                                        .degree = degree,
                                        .rtol = rtol,
                                        .atol = atol,
                                        .max_iterations = max_iterations,
                                        .fixed = fixed,
                                        .replace_every = replace_every,
                                        .blocks = blocks,
                                        .threads = threads,
                                        .deadline = deadline};
            return self.solve(b, x, options, watch, each);
          },
          "b"_a, "x"_a.noconvert(), nb::kw_only(), "method"_a, "control"_a, "preconditioner"_a, "degree"_a = 3,
          "rtol"_a, "atol"_a, "max_iterations"_a, "fixed"_a = false, "replace_every"_a = 0, "blocks"_a = 0,
          "threads"_a = 0, "deadline"_a = 0.0, "watch"_a.none() = nb::none(), "each"_a = false,
          "`b` and `x` are columns by rows. `watch` is called with the column, the iterations so far, the residual and "
          "its target; with `each`, after every iteration, when x holds the solution so far.")
      .def("multiply", &system::multiply, "x"_a, "y"_a.noconvert(), "y = A x.")
      .def("time_multiply", &system::time_multiply, "products"_a, "repetitions"_a, "Seconds of each product.")
      .def("facts", &system::facts, "How the matrix lies on the devices.");
}

// The three arrays of a matrix, which share what owns them.
template <class T>
nb::tuple arrays_of(cg::csr<T>&& a) {
  auto* kept = new cg::csr<T>(std::move(a));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<cg::csr<T>*>(p); });
  const auto array = [&owner]<class U>(std::vector<U>& v) {
    return nb::cast(nb::ndarray<nb::numpy, U, nb::ndim<1>>(v.data(), {v.size()}, owner));
  };
  return nb::make_tuple(array(kept->row_start), array(kept->column), array(kept->value));
}

// make(element) for the element type that was asked for.
template <class F>
nb::tuple generated(bool single, F make) {
  const auto unlocked = [](auto f) {
    const nb::gil_scoped_release free;
    return f();
  };
  if (single) return arrays_of(unlocked([&] { return make(float{}); }));
  return arrays_of(unlocked([&] { return make(double{}); }));
}

void bind_matrices(nb::module_& m) {
  m.def(
      "grid_2d",
      [](index_t nx, index_t ny, bool single) {
        return generated(single, [&](auto t) { return cg::grid_2d<decltype(t)>(nx, ny); });
      },
      "nx"_a, "ny"_a, "single"_a, nb::sig("def grid_2d(nx: int, ny: int, single: bool) -> tuple[typing.Any, ...]"));
  m.def(
      "grid_3d",
      [](index_t nx, index_t ny, index_t nz, bool single) {
        return generated(single, [&](auto t) { return cg::grid_3d<decltype(t)>(nx, ny, nz); });
      },
      "nx"_a, "ny"_a, "nz"_a, "single"_a,
      nb::sig("def grid_3d(nx: int, ny: int, nz: int, single: bool) -> tuple[typing.Any, ...]"));
  m.def(
      "elasticity_3d",
      [](index_t nx, index_t ny, index_t nz, bool single) {
        return generated(single, [&](auto t) { return cg::elasticity_3d<decltype(t)>(nx, ny, nz); });
      },
      "nx"_a, "ny"_a, "nz"_a, "single"_a,
      nb::sig("def elasticity_3d(nx: int, ny: int, nz: int, single: bool) -> tuple[typing.Any, ...]"));
  m.def(
      "circuit",
      [](index_t n, index_t nets, std::uint64_t seed, bool single) {
        return generated(single, [&](auto t) { return cg::circuit<decltype(t)>(n, nets, seed); });
      },
      "n"_a, "nets"_a, "seed"_a, "single"_a,
      nb::sig("def circuit(n: int, nets: int, seed: int, single: bool) -> tuple[typing.Any, ...]"));
  m.def(
      "uneven",
      [](index_t n, index_t mean_degree, std::uint64_t seed, bool single) {
        return generated(single, [&](auto t) { return cg::uneven<decltype(t)>(n, mean_degree, seed); });
      },
      "n"_a, "mean_degree"_a, "seed"_a, "single"_a,
      nb::sig("def uneven(n: int, mean_degree: int, seed: int, single: bool) -> tuple[typing.Any, ...]"));
}

}  // namespace

void bind_cg(nb::module_& m) {
  nb::class_<solve_result>(m, "SolveResult", "What one call of solve did.")
      .def_prop_ro("why", [](const solve_result& r) { return cg::name(r.why); })
      .def_ro("iterations", &solve_result::iterations)
      .def_ro("residual", &solve_result::residual)
      .def_ro("target", &solve_result::target)
      .def_ro("breakdown_value", &solve_result::breakdown_value)
      .def_ro("history", &solve_result::history)
      .def_ro("replacements", &solve_result::replacements)
      .def_ro("seconds", &solve_result::seconds)
      .def_ro("blocks", &solve_result::blocks)
      .def_ro("threads", &solve_result::threads)
      .def_ro("kept_bytes", &solve_result::kept_bytes);
  nb::class_<matrix_facts>(m, "MatrixFacts", "How a matrix lies on a machine.")
      .def_ro("rows", &matrix_facts::rows)
      .def_ro("nonzeros", &matrix_facts::nonzeros)
      .def_prop_ro("storage", [](const matrix_facts& f) { return cg::name(f.how); })
      .def_ro("offset_bits", &matrix_facts::offset_bits)
      .def_ro("first_rows", &matrix_facts::first_rows)
      .def_ro("halo", &matrix_facts::halo)
      .def_ro("bytes", &matrix_facts::bytes);
  bind_system<float>(m, "LinearSystemF32");
  bind_system<double>(m, "LinearSystemF64");
  bind_matrices(m);
}

}  // namespace starling::python
