import Foundation

/// In the files of a project an event is the text of a log's line, which has the time.
extension ProjectEvent {
    /// The name of the log that all of a project's events are written to.
    static let logName = "events"

    private struct Body: Codable {
        let action: Action
        let service: String?
        let instance: String?
        let pid: Int32?
        let attributes: [String: String]
    }

    /// - Returns: `nil` for what is no event, or one that a later version writes.
    init?(_ line: LogLine) {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(line.text.utf8)) else { return nil }
        self.init(body.action, time: line.timestamp)
        (service, instance, pid, attributes) = (body.service, body.instance, body.pid, body.attributes)
    }

    /// - Throws: `EncodingError`.
    func record() throws -> [UInt8] {
        let body = Body(action: action, service: service, instance: instance, pid: pid, attributes: attributes)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return LogRecord.bytes(
            time: LogRecord.time(time), stream: .notice, text: try encoder.encode(body), continues: false)
    }
}
