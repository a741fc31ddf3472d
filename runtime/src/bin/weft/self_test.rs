//! `weft devices --self-test`

use crate::args::Format;
use crate::report::{Failure, Outcome, note};
use crate::{is_json, output, show};
use serde_json::{Value, json};
use weft_runtime::{
    AdapterInfo, Answer, Cache, Device, DeviceOptions, Error, Selection, SelfTest, Test, adapters_with,
};

/// Tests every adapter, shows the answers, and keeps them.
pub(crate) fn self_test(format: Format) -> Result<Outcome, Failure> {
    let cache = Cache::user();
    let found = adapters_with(None);
    let best = show::best(&found, format)?;
    let mut outcome = Outcome::Done;
    let mut values = Vec::new();
    for mut adapter in found {
        let is_best = adapter.index == best;
        let tested = test(&adapter);
        if let Ok(tested) = &tested {
            tested.apply(&mut adapter.target);
            match cache.as_ref().map(|cache| tested.save(cache, &adapter)) {
                None => note("there is no cache to keep the answers in", format)?,
                Some(Err(error)) => note(&format!("the answers are not kept: {error}"), format)?,
                Some(Ok(())) => {}
            }
        } else {
            outcome = Outcome::Findings;
        }
        if is_json(format) {
            let mut value = show::adapter_json(&adapter, is_best)?;
            value["self_test"] = tested.as_ref().map_or(Value::Null, to_json);
            if let Err(error) = &tested {
                value["self_test_error"] = json!({ "code": error.code(), "message": error.to_string() });
            }
            values.push(value);
        } else {
            let answers = tested.as_ref().map_or_else(|error| format!("   not tested: {error}\n"), to_text);
            output::text(&format!("{}\n{answers}", show::adapter_text(&adapter, is_best)))?;
        }
    }
    if is_json(format) {
        output::json(&json!({ "devices": values }))?;
    }
    Ok(outcome)
}

/// What the adapter does, of a device that is opened as the system describes it.
fn test(adapter: &AdapterInfo) -> Result<SelfTest, Error> {
    let options = DeviceOptions::default().with_cache(None);
    Device::open(&Selection::Index(adapter.index), &options)?.self_test()
}

fn to_text(tested: &SelfTest) -> String {
    let line = |(test, answer): (Test, &Answer)| {
        let mark = match answer {
            Answer::Holds(_) => "yes",
            Answer::Fails(_) => "no",
            Answer::Skipped(_) => "-",
        };
        let follows =
            test.decides().map_or_else(|| test.remark().unwrap_or_default().to_owned(), |it| format!("decides {it}"));
        let found = if answer.found().is_empty() { String::new() } else { format!("\n        {}", answer.found()) };
        format!("   {:<21} {mark:<4} {follows}{found}\n", test.name())
    };
    tested.answers().map(line).collect()
}

fn to_json(tested: &SelfTest) -> Value {
    let answer = |(test, answer): (Test, &Answer)| {
        json!({
            "name": test.name(),
            "answer": answer.word(),
            "found": answer.found(),
            "decides": test.decides(),
            "remark": test.remark(),
        })
    };
    json!({ "version": SelfTest::VERSION, "tests": tested.answers().map(answer).collect::<Vec<_>>() })
}
