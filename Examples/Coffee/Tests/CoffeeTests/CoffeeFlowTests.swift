import SegueTestSupport
import Testing

@Suite("The coffee bar's flow, with nothing around it")
struct CoffeeFlowTests {
    @Test("The flow follows its scenarios")
    func scenarios() throws {
        try Scenarios.run(flow: PackageFile.path("flow.yaml"), scenarios: PackageFile.path("scenarios"))
    }
}
