internal import Foundation

/// The header of a message: the attributes as one flat JSON object of texts, with its keys in order, so that equal attributes
/// are equal bytes. Every message is written and read once by each process, so this is done by hand; whatever is not in the
/// plain form that is written here is left to Foundation.
extension Attributes {
    package var json: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(384)
        writeJSON(to: &bytes)
        return bytes
    }

    /// Writes ``json`` behind what is there.
    package func writeJSON(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: jsonCapacity, alignment: 1) { memory in
            var writer = HeaderWriter(memory)
            writer.write("causationid", causationID)
            writer.write("correlationid", correlationID)
            writer.write("device", device)
            writer.write("expirytime", expiryTime.map(Timestamp.text(of:)))
            writer.write("id", id)
            writer.write("instance", instance)
            writer.write("key", key)
            writer.write("platform", platform)
            writer.write("recipient", recipient)
            writer.write("source", source)
            writer.write("specversion", "1.0")
            writer.write("subject", subject)
            writer.write("time", Timestamp.text(of: time))
            writer.write("traceparent", traceparent)
            writer.write("type", type)
            bytes.append(contentsOf: writer.finish())
        }
    }

    /// The most that ``json`` can take.
    private var jsonCapacity: Int {
        var size =
            id.utf8.count + source.utf8.count + subject.utf8.count + correlationID.utf8.count + type.name.utf8.count
        size += (causationID?.utf8.count ?? 0) + (traceparent?.utf8.count ?? 0) + (platform?.utf8.count ?? 0)
        size += (device?.utf8.count ?? 0) + (instance?.utf8.count ?? 0) + (key?.utf8.count ?? 0)
        size += recipient?.utf8.count ?? 0
        return HeaderWriter.fixedCapacity + size * HeaderWriter.escapedSize
    }

    /// - Throws: `DecodingError` unless it is a JSON object with `id`, `source`, `type` and CloudEvents version 1.0.
    package init(json: some RandomAccessCollection<UInt8>) throws {
        let plain = json.withContiguousStorageIfAvailable { Self.plain($0) } ?? nil
        self = try plain ?? JSONDecoder().decode(Attributes.self, from: Data(json))
    }

    /// Nil for anything that is not in the plain form.
    private static func plain(_ bytes: UnsafeBufferPointer<UInt8>) -> Attributes? {
        var reader = HeaderReader(bytes)
        var fields = HeaderFields()
        guard reader.readObject({ fields.set($0, to: $1) }) else { return nil }
        return fields.attributes()
    }
}
