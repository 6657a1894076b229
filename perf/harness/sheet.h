// What one workload found: rows, the goals they are held against, and remarks. Writers of tables, JSON and charts only
// read it. A row is one number: `metric` in `unit` of `system` in `kase`. A ratio is a row too, with unit "x" and the
// metric "wall/direct". Rows in unit "1/task" are contention and are shown apart.
#pragma once

#include <string>
#include <vector>

namespace perf {

struct Row {
    std::string kase, system, metric, unit;
    double value;
};

struct Goal {
    std::string text;
    double measured, limit;
    bool at_most;

    bool known() const { return measured == measured; }
    bool met() const { return at_most ? measured <= limit : measured >= limit; }
};

class Sheet {
  public:
    enum class Layout {
        systems_down,
        cases_down
    };  // cases_down: one line a case, one column a system, `main_metric` only

    Sheet(std::string workload_id, std::string workload_title)
        : id(std::move(workload_id)), title(std::move(workload_title)) {}

    std::string id, title;
    std::string main_metric = "wall";  // what charts show
    Layout layout = Layout::systems_down;
    std::vector<Row> rows;
    std::vector<Goal> goals;
    std::vector<std::string> notes;

    void add(std::string kase, std::string system, std::string metric, std::string unit, double value) {
        rows.push_back({std::move(kase), std::move(system), std::move(metric), std::move(unit), value});
    }

    // NaN when there is no such row.
    double value(const std::string &kase, const std::string &system, const std::string &metric) const;
    double ratio(const std::string &kase, const std::string &metric, const std::string &of,
                 const std::string &to) const {
        return value(kase, of, metric) / value(kase, to, metric);
    }

    // Adds a row "metric/floor" for every system that has `metric` in a case where `floor` has it too.
    void add_ratios(const std::string &metric, const std::string &floor);

    void at_most(std::string text, double measured, double limit) {
        goals.push_back({std::move(text), measured, limit, true});
    }
    void at_least(std::string text, double measured, double limit) {
        goals.push_back({std::move(text), measured, limit, false});
    }
    void note(std::string text) { notes.push_back(std::move(text)); }

    // The distinct values of one field, in order of appearance.
    std::vector<std::string> distinct(std::string Row::*field) const;
};

std::string unit_of(const Sheet &sheet, const std::string &metric);

}  // namespace perf
