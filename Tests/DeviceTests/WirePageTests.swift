import Contracts
import EventBus
import Foundation
import Support
import TestSupport
import Testing

@Suite("The section 'A view' of docs/wire-protocol.md")
struct WirePageTests {
    @Test("The section lists what views send, with the fields of the data")
    func sent() throws {
        let page = try String(contentsOfFile: Repository.path("docs/wire-protocol.md"), encoding: .utf8)
        let section = page.components(separatedBy: "\n## A view\n").last?.components(separatedBy: "\n## ").first ?? ""
        var listed: [String: Set<String>] = [:]
        for row in section.matches(of: #/(?m)^\| [^|]+ \| (`[^|]*`) \| ([^|]*) \|$/#) {
            let fields = Set(row.2.matches(of: #/`(\w+)`/#).map { String($0.1) }).subtracting(["id"])
            for type in row.1.matches(of: #/`(?:command\.|event\.)?(\w+)`/#) { listed[String(type.1)] = fields }
        }
        let sent = PlatformMessages.all.filter {
            $0.type.kind == .command && !["NavigationRequested", "DataDispatched"].contains($0.type.name)
        }
        for message in sent + [DomainEvent.DeepLinkReceived.self] {
            guard case .object(let fields) = try JSONSchema(of: message) else { continue }
            #expect(listed[message.type.name] == Set(fields.keys), "\(message.type)")
        }
    }
}
