package import EventBus
internal import Testing

/// One promise of ``EventBus`` that every transport keeps, as a test that any transport's test target can run:
///
///     @Test(arguments: ConformanceCase.all)
///     func conforms(_ conformanceCase: ConformanceCase) async throws {
///         try await withBroker { broker in
///             try await conformanceCase.run { source in try await broker.connect(source) }
///         }
///     }
package struct ConformanceCase: Sendable {
    /// Makes a bus for a process with this source. All buses that one case makes share one empty journal.
    package typealias MakeBus = @Sendable (_ source: String) async throws -> any EventBus

    /// The promise, in prose.
    package let name: String
    private let body: @Sendable (ConformanceFixture) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (ConformanceFixture) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs the case; what is not as promised is recorded as an issue of the current test.
    package func run(_ make: @escaping MakeBus) async throws {
        try await body(ConformanceFixture(make: make))
    }

    package static let all =
        publishing + starting + filtering + reading + documents + consuming
}

extension ConformanceCase: CustomTestStringConvertible {
    package var testDescription: String { name }
}
