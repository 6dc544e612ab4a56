internal import Compose
internal import EventBus

/// One line of a service's log, for a program.
struct LogObject: Encodable {
    let service: String
    let time: String
    let stream: LogLine.Stream
    let text: String
    /// The next object of the same service and stream goes on with this line.
    let `continues`: Bool?

    init(_ line: LogLine) {
        service = line.service
        time = Timestamp.text(of: line.timestamp)
        stream = line.stream
        text = line.text
        `continues` = line.continues ? true : nil
    }
}
