internal import Foundation
internal import Support

/// The line of a test that calls a method.
struct Caller: Sendable, CustomStringConvertible {
    let fileID: StaticString
    let line: UInt

    var description: String { "\(fileID):\(line)" }
}

/// Runs `body`, but not for longer than a deadline.
/// - Parameters:
///   - deadline: Nil for the default.
///   - failure: Returns the error if `body` has not returned in time, or if the test was cancelled. Its parameter is
///     the beginning of a sentence that the name of what was awaited ends, such as `waited 10s for`.
func within<Result: Sendable>(
    _ deadline: Duration?, _ body: @escaping @Sendable () async throws -> Result,
    orThrow failure: @escaping @Sendable (_ beginning: String) -> StackFailure
) async throws -> Result {
    let deadline = try deadline ?? DefaultDeadline.value(in: ProcessInfo.processInfo.environment)
    do {
        return try await withTimeLimit(deadline, orThrow: failure("waited \(deadline.text) for"), body)
    } catch is CancellationError {
        throw failure("the test was cancelled, perhaps by its time limit, while it waited for")
    }
}

/// The maximum time of a wait for which neither the call nor the stack names one: 10 s, or the value of the variable
/// `SEGUE_TEST_DEADLINE`.
enum DefaultDeadline {
    static let variable = "SEGUE_TEST_DEADLINE"

    /// - Throws: ``Invalid`` if the variable is not a duration.
    static func value(in environment: [String: String]) throws(Invalid) -> Duration {
        guard let text = environment[variable], !text.isEmpty else { return .seconds(10) }
        guard let duration = Duration(text: text), duration > .zero else { throw Invalid(text: text) }
        return duration
    }

    struct Invalid: Error, Hashable, CustomStringConvertible {
        let text: String

        var description: String {
            "\(variable): '\(text.printable)' is not a duration; write a number and a unit, such as 30s or 2m"
        }
    }
}
