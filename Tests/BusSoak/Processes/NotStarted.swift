/// A process that could not be started.
struct NotStarted: Error, CustomStringConvertible {
    let name: String
    let end: ProcessEnd

    var description: String { "\(name) could not be started: \(end)" }
}
