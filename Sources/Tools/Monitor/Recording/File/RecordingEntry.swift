internal import EventBus
internal import Foundation

/// What a line of a recording says.
package enum RecordingEntry: Hashable, Sendable {
    case header(RecordingHeader)
    case message(RecordedMessage)
    case end(RecordingEnd)
    /// It says nothing that is understood.
    case mistake(RecordingMistake)
    /// The file ends amid this line: whoever wrote it was killed.
    case cutOff(line: Int)
}

extension RecordingEntry {
    /// - Parameter number: which message it is, if it is one.
    /// - Throws: ``RecordingError`` when it is a header of a later version.
    init(_ text: Data, line: Int, number: Int) throws {
        do {
            self = .message(RecordedMessage(number: number, line: line, try CloudEventFormat.message(text)))
        } catch let error as BusError {
            self = try Self.mark(text) ?? .mistake(RecordingMistake(line: line, reason: error.message))
        }
    }

    private struct Mark: Decodable {
        let segue: String
        let version: Int?
    }

    /// - Returns: nil for what is neither a first nor a last line.
    private static func mark(_ text: Data) throws -> RecordingEntry? {
        guard let mark = try? JSONDecoder().decode(Mark.self, from: text) else { return nil }
        switch mark.segue {
        case RecordingEnd.mark: return (try? JSONDecoder().decode(RecordingEnd.self, from: text)).map { .end($0) }
        case RecordingHeader.mark:
            guard mark.version == RecordingHeader.version else {
                throw RecordingError(
                    "recording.version",
                    "it is a recording of version \(mark.version ?? 0); version \(RecordingHeader.version) can be read",
                    recovery: "use the segue that wrote it")
            }
            return (try? JSONDecoder().decode(RecordingHeader.self, from: text)).map { .header($0) }
        default: return nil
        }
    }
}
