internal import Foundation

/// One value as a line of JSON.
enum Line {
    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self) + "\n"
    }

    static func decode<Value: Decodable>(_ line: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(line.utf8))
    }
}
