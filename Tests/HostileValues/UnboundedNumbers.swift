internal import Contracts
package import EventBus
internal import Foundation
internal import Support

/// The numbers in a message's data, or in the answer to a query, that the message's type decodes although they are the
/// greatest or the least that there are: `command.Seek: position = 9223372036854775807`.
///
/// The fields are those of the schema, so numbers in a value of any form are not found.
package func unboundedNumbers(of message: any Message.Type) throws -> [String] {
    let answers = try (message as? any QueryMessage.Type).map { try unboundedNumbers(ofAnswersTo: $0) } ?? []
    return try unboundedNumbers(of: message, named: "\(message.type)") + answers
}

private func unboundedNumbers<Q: QueryMessage>(ofAnswersTo query: Q.Type) throws -> [String] {
    try unboundedNumbers(of: Q.Answer.self, named: "the answer to \(query.type)")
}

private func unboundedNumbers(of type: any Decodable.Type, named name: String) throws -> [String] {
    try JSONSchema(of: type).sample.extremeNumbers().filter { isDecodable(type, $0.json) }
        .map { "\(name): \($0.path) = \($0.value)" }
}

private func isDecodable<Value: Decodable>(_ type: Value.Type, _ json: String) -> Bool {
    (try? JSONDecoder().decode(type, from: Data(json.utf8))) != nil
}
