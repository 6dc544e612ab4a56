package import BusProtocol
package import EventBus
internal import Foundation

/// Headers with which nobody can do anything.
package enum BadHeader: String, CaseIterable, Sendable {
    case empty = ""
    case noJSON = "{"
    case noObject = "[]"
    case noText = "{\"id\":1,\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Greet\"}"
    case noID = "{\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Greet\"}"
    case oldVersion = "{\"id\":\"1\",\"source\":\"s\",\"specversion\":\"0.3\",\"type\":\"command.Greet\"}"
    case otherType = "{\"id\":\"1\",\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Other\"}"
    case otherSubject =
        "{\"id\":\"1\",\"source\":\"s\",\"specversion\":\"1.0\",\"subject\":\"alice\",\"type\":\"command.Greet\"}"
    /// Not UTF-8.
    case noUTF8 = "{\"id\":\"?\",\"source\":\"s\",\"specversion\":\"1.0\",\"type\":\"command.Greet\"}"
    /// Its type is longer than a text on the wire can be, and not even ASCII.
    case long = "long"

    package var bytes: [UInt8] {
        switch self {
        case .noUTF8: rawValue.utf8.map { $0 == UInt8(ascii: "?") ? 0xff : $0 }
        case .long:
            Array(
                #"{"id":"1","source":"s","specversion":"1.0","type":"\#(String(repeating: "é", count: 32_700))"}"#.utf8)
        default: Array(rawValue.utf8)
        }
    }

    /// A message of the session `default`.
    package func message(_ type: MessageType, key: String = "", data: String = "{}") -> PublishedMessage {
        PublishedMessage(
            topic: Topic(type, subject: Session.default).name, subject: Session.default, key: key,
            header: bytes[...], data: Array(data.utf8)[...])
    }
}
