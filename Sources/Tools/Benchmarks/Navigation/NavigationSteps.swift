internal import Navigation

/// Measures the time in which a machine handles a message of ``PlayerStory``. The baseline is ``HandWrittenPlayer``.
/// Neither has a bus, and no state is written as JSON.
struct NavigationSteps {
    let run: BenchmarkRun

    func measure() async throws -> [BenchmarkResult] {
        let flow = try PlayerFlow.flow()
        let comparison = try await BaselineComparison(
            rounds: run.options.rounds, count: run.messages, warmUp: run.messages / 10
        ) { count in
            nanoseconds(HandWrittenPlayer(), count)
        } value: { count in
            nanoseconds(Machine(flow: flow), count)
        }
        return [run.result(comparison, unit: "ns", baseline: "a switch written by hand", processes: 1)]
    }

    /// The time for one message, in nanoseconds.
    private func nanoseconds(_ navigation: some PlayerNavigation, _ count: Int) -> Double {
        var story = PlayerStory(navigation)
        let begin = MonotonicTime.now
        story.tell(until: count)
        return Double(MonotonicTime.now - begin) / Double(story.count)
    }
}
