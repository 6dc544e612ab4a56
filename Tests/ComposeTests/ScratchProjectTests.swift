import Foundation
import SystemSupport
import Testing

@testable import Compose

@Suite("Scratch projects")
struct ScratchProjectTests {
    @Test("Abandoned scratch projects are found once, when their process holds no lock")
    func abandoned() async throws {
        let scratch = try Scratch()
        let environment = ["XDG_RUNTIME_DIR": scratch.path]
        let name = try ScratchProject.make(prefix: "demo", environment: environment).project.name
        let held = try ScratchProject.make(prefix: "demo", environment: environment)
        let abandoned = try ScratchProject.abandoned(prefix: "demo", environment: environment)
        #expect(abandoned.map(\.project.name) == [name])
        #expect(try ScratchProject.abandoned(prefix: "demo", environment: environment).isEmpty)
        for project in abandoned + [held] { try await project.remove() }
        #expect(try entries(scratch) == [])
    }

    @Test("Scratch projects can be created and removed while others search for abandoned ones", .timeLimit(.minutes(1)))
    func concurrent() async throws {
        let scratch = try Scratch()
        let environment = ["XDG_RUNTIME_DIR": scratch.path]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<6 {
                        let project = try ScratchProject.make(prefix: "demo", environment: environment)
                        let folder = "\(scratch.path)/segue/.\(project.project.name)"
                        // The removal of many files takes long enough to meet others.
                        for file in 0..<50 {
                            _ = FileManager.default.createFile(atPath: "\(folder)/\(file)", contents: nil)
                        }
                        try await project.remove()
                    }
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    for project in try ScratchProject.abandoned(prefix: "demo", environment: environment) {
                        try await project.remove()
                    }
                    await Task.yield()
                }
            }
            // The makers end first, unless a removal fails.
            for _ in 0..<2 { try await group.next() }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
        #expect(try ScratchProject.abandoned(prefix: "demo", environment: environment).isEmpty)
    }

    private func entries(_ scratch: Scratch) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/segue")
    }
}
