package import EventBus
package import Foundation
internal import Navigation

extension CloudEventFormat {
    /// Reads what ``line(_:)`` writes, and any other CloudEvent in its structured form.
    /// - Throws: ``BusError`` with code `malformed`: what is wrong, in a few words.
    package static func message(_ line: Data) throws -> Envelope {
        let attributes: Attributes
        do {
            attributes = try JSONDecoder().decode(Attributes.self, from: line)
        } catch let error as DecodingError {
            throw BusError(.malformed, error.summary)
        }
        let members = RawMembers(line)
        return Envelope(attributes: attributes, data: try data(members), position: try position(members["position"]))
    }

    private static func data(_ members: RawMembers) throws -> Data {
        if let json = members["data"] { return Data(json) }
        guard let base64 = members["data_base64"] else { return Data() }
        guard let text = try? JSONDecoder().decode(Data.self, from: base64) else {
            throw BusError(.malformed, "its data_base64 is not Base64")
        }
        return text
    }

    private static func position(_ json: Data?) throws -> Position? {
        guard let json else { return nil }
        let value = try? JSONValue(parsing: json)
        guard let epoch = value?["epoch"]?.stringValue.flatMap({ UInt64($0, radix: 16) }),
            let offset = value?["offset"]?.integerValue, offset > 0
        else { throw BusError(.malformed, "its position has no epoch in hexadecimal, or no offset") }
        return Position(epoch: epoch, offset: UInt64(offset))
    }
}
