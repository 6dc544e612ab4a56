import Foundation
import Support
import SystemSupport
import Testing

/// The tests use signals that no other test of this process uses.
@Suite("Running until a signal", .serialized)
struct ShutdownSignalTests {
    @Test("Completed work ends with its value or its error")
    func done() async throws {
        guard case .value(7) = try await ShutdownSignals.run(until: [SIGUSR1], { 7 }) else {
            Issue.record("the value is lost")
            return
        }
        await #expect(throws: CocoaError.self) {
            try await ShutdownSignals.run(until: [SIGUSR1]) { throw CocoaError(.fileNoSuchFile) }
        }
    }

    @Test("A signal cancels the work, and is reported when the work has ended", .timeLimit(.minutes(1)))
    func signal() async throws {
        let hasEnded = Latch()
        let ending = try await ShutdownSignals.run(until: [SIGUSR1, SIGUSR2]) {
            defer { hasEnded.open() }
            // The signal may be sent at once, because signals are handled before the work begins. It is sent to the
            // process and not raised on this thread, because only signals to the process are observed.
            kill(getpid(), SIGUSR2)
            try await Task.sleep(for: .seconds(60))
        }
        guard case .signal(SIGUSR2) = ending else {
            Issue.record("the signal is lost")
            return
        }
        try await hasEnded.waitUntilOpen()
        #expect(!Self.isHandled(SIGUSR1) && !Self.isHandled(SIGUSR2), "they do what they do by default")
    }

    private static func isHandled(_ number: CInt) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return action.__sigaction_handler.sa_handler != nil
    }
}
