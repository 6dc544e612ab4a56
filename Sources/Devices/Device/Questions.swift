internal import Contracts
internal import EventBus

/// The queries that a device has asked for its screens, and their answers.
///
/// Each query is about a document. When a newer document of this type arrives, or the document is withdrawn, the query
/// and its answer are out of date and are forgotten.
struct Questions: Sendable {
    private struct Question {
        /// The id of the query's message.
        let id: String
        let query: any QueryMessage
        let document: MessageType
        /// Nil until the answer arrives.
        var answer: (any Sendable)?
    }

    /// The questions in the order in which they were asked.
    private var questions: [Question] = []

    mutating func ask(_ query: any QueryMessage, about document: MessageType, id: String) {
        questions.append(Question(id: id, query: query, document: document))
    }

    /// True if a query about the document has no answer yet.
    func isOpen(about document: MessageType) -> Bool {
        questions.contains { $0.document == document && $0.answer == nil }
    }

    /// Stores the answer to a query. Does nothing if the query was forgotten.
    /// - Throws: The error of the answer, or of reading it. The query is then forgotten.
    mutating func receive(_ answer: Result<Envelope, any Error>, to id: String) throws {
        guard let index = questions.firstIndex(where: { $0.id == id }) else { return }
        do {
            questions[index].answer = try Self.data(of: answer.get(), to: questions[index].query)
        } catch {
            questions.remove(at: index)
            throw error
        }
    }

    private static func data<Query: QueryMessage>(of answer: Envelope, to query: Query) throws -> any Sendable {
        switch answer.type {
        case ApplicationError.type: throw try answer.decode(ApplicationError.self)
        case let type where type.kind == .error: throw BusError(.refused, "\(Query.type) was answered with \(type)")
        default: return try answer.decodeData(as: Query.Answer.self)
        }
    }

    mutating func forget(about document: MessageType) {
        questions.removeAll { $0.document == document }
    }

    /// The answered queries of a type, in the order in which they were asked.
    func answers<Query: QueryMessage>(to type: Query.Type) -> [(query: Query, answer: Query.Answer)] {
        questions.compactMap { question in
            guard let query = question.query as? Query, let answer = question.answer as? Query.Answer else {
                return nil
            }
            return (query, answer)
        }
    }
}
