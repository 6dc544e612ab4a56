internal import WebPage

/// A view of kind `processes`: the figures that the page does not have yet.
struct ProcessesView: ViewState {
    private var values = ChangedValues()

    var hasNews: Bool { !values.isEmpty }

    /// Shows values in JSON.
    mutating func show(_ new: [(key: String, value: [UInt8])]) {
        for (key, value) in new { values.set(key, value) }
    }

    mutating func dequeueUpdate(size: Int) -> [UInt8]? {
        guard hasNews else { return nil }
        var update = ObjectText()
        for (key, value) in values.drain() { update.add(key, value) }
        return update.closed
    }
}
