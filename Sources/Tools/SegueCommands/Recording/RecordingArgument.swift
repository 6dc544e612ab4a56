internal import ArgumentParser
internal import Compose
internal import EventBus
package import Monitor
internal import Support

extension Recording {
    /// Opens the recording in a file. For `-`, copies standard input to a temporary file first.
    /// - Throws: ``CommandError`` if standard input cannot be read or copied.
    init(argument: String) async throws {
        self.init(path: argument, copy: argument == "-" ? try await StandardInput.copy() : nil)
    }
}

extension RecordingMoment: FormedArgument {
    static let forms =
        "a message's number, its id or the beginning of it, @OFFSET, a time, or a duration after the first message "
        + "such as 5s"

    /// - Parameter argument: a number, `@17` for an offset, a time as ``WallTime`` reads it, a duration since the first
    ///   message, or an id or its beginning.
    package init?(argument: String) {
        if let digits = argument.removing(prefix: "@") {
            guard let offset = Position.offset(digits) else { return nil }
            self = .offset(offset)
        } else if let number = Int(argument) {
            self = .number(number)
        } else if let date = WallTime.date(from: argument) {
            self = .time(date)
        } else if let duration = Duration(compose: argument) {
            self = .elapsed(duration)
        } else if argument.isEmpty {
            return nil
        } else {
            self = .id(argument)
        }
    }
}
