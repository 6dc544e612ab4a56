internal import Foundation

/// How long a thread looks for news before it sleeps.
///
/// To wake a thread that sleeps takes longer than to handle most messages: its core has to leave an idle state, in a virtual
/// machine through the hypervisor. Where messages follow each other closely, as a command and its answer do, it pays to look
/// for the next one. The rule is that of Linux's guest halt polling (Documentation/virt/guest-halt-polling.rst): the window
/// grows while news comes within it or a little later, and shrinks when news takes long. A bus that is idle, or waits for
/// people, does not poll.
struct PollingWindow {
    private(set) var length = Duration.zero
    private let maximum: Duration

    /// What it opens with.
    static let first = Duration.microseconds(50)

    /// - Parameter maximum: zero keeps it closed.
    init(maximum: Duration = Self.defaultMaximum) {
        self.maximum = maximum
    }

    /// An answer's usual time, and some. On a single core whoever has the news to send could not run meanwhile.
    private static let defaultMaximum =
        ProcessInfo.processInfo.activeProcessorCount > 1 ? Duration.microseconds(400) : .zero

    /// - Parameter wait: how long it was until there was news.
    mutating func note(_ wait: Duration) {
        guard wait > length else { return }
        if wait <= maximum {
            length = min(max(length * 2, Self.first), maximum)
        } else {
            length = length / 2 < Self.first ? .zero : length / 2
        }
    }
}
