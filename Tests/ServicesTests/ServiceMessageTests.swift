import Consuming
import HostileValues
import ServiceRuntime
import Testing

@testable import Services

@Suite("Messages of the services")
struct ServiceMessageTests {
    @Test("A number that is too large is refused in every message")
    func numbers() throws {
        let handlers = MusicHost.handlers(Prepared()) + [AuthorizationHost.handlers(Prepared())]
        let messages = handlers.flatMap(\.receives) + handlers.flatMap(\.sends)
        #expect(messages.count > 20)
        #expect(try messages.flatMap { try unboundedNumbers(of: $0) } == [])
    }
}
