import Hummingbird

/// The form fields of a control request. What is wrong with one is said in a line of plain text.
struct ControlFields {
    private let fields: [String: String]

    init(_ request: Request) async throws {
        fields = try await request.formFields()
    }

    func required(_ name: String) throws -> String {
        guard let value = fields[name], !value.isEmpty else { throw refusal("'\(name)' is missing") }
        return value
    }

    func choice<Choice>(_ name: String, _ type: Choice.Type) throws -> Choice
    where Choice: CaseIterable & RawRepresentable<String> {
        guard let choice = Choice(rawValue: try required(name)) else {
            throw refusal("'\(name)' must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = fields[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw refusal("'\(name)' must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func fault() throws -> Fault {
        let status = try number("status", in: 400...599)
        let fault = Fault(
            path: try required("path"),
            status: status,
            // Spotify never limits without saying for how long.
            retryAfter: try number("retry_after", in: 0...3_600) ?? (status == 429 ? 1 : nil),
            delayInMilliseconds: try number("delay_ms", in: 0...60_000) ?? 0,
            remaining: try number("count", in: 1...1_000_000) ?? 1
        )
        guard fault.path.hasPrefix("/") else { throw refusal("'path' must begin with /") }
        guard fault.status != nil || fault.delayInMilliseconds > 0 else {
            throw refusal("give 'status', 'delay_ms' or both")
        }
        return fault
    }

    private func refusal(_ problem: String) -> HTTPError {
        HTTPError(.badRequest, message: "\(problem); GET /_control tells more")
    }
}
