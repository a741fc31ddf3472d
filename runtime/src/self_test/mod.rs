//! What an adapter does, found out by running small kernels on it.
//!
//! The languages of shaders promise little, and drivers break some of that. Each [`Test`] runs a kernel whose answer is known; what follows from the
//! answers is put into a [`Target`] by [`SelfTest::apply`], so that the compiler does without what does not work. Answers are kept in a
//! [`Cache`], by adapter and driver, and a device is opened with those that are kept ([`DeviceOptions::cache`](crate::DeviceOptions)).
//!
//! Running takes a second or so, most of which is the driver's compiler; nothing runs unless it is asked for ([`Device::self_test`],
//! `weft devices --self-test`).

mod arithmetic;
mod atomics;
mod kernel;
mod matrices;
mod order;
mod subgroups;
mod test;
mod text;
mod wide;
mod workgroup;

pub use test::Test;

use crate::cache::Kind;
use crate::{AdapterInfo, Cache, Device, Error};
use weft_partition::Target;

/// How a [`Test`] went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What it asks for holds, and these are particulars.
    Holds(String),
    /// It does not hold: what was found instead.
    Fails(String),
    /// It was not run, for this reason.
    Skipped(String),
}

impl Answer {
    /// Whether what was asked for is known to hold.
    pub fn holds(&self) -> bool {
        matches!(self, Answer::Holds(_))
    }

    /// Whether what was asked for is known not to hold.
    pub fn fails(&self) -> bool {
        matches!(self, Answer::Fails(_))
    }

    /// `holds`, `fails` or `skipped`.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Holds(_) => "holds",
            Answer::Fails(_) => "fails",
            Answer::Skipped(_) => "skipped",
        }
    }

    /// Particulars, what was found instead, or why it was not run; may be empty.
    pub fn found(&self) -> &str {
        let (Answer::Holds(found) | Answer::Fails(found) | Answer::Skipped(found)) = self;
        found
    }

    /// Whether `count` of `all` forms went wrong, and which.
    fn of_wrong(wrong: &[String], all: usize) -> Answer {
        match wrong {
            [] => Answer::Holds(String::new()),
            _ => Answer::Fails(format!("{} of {all}: {}", wrong.len(), wrong.join(", "))),
        }
    }
}

/// The answers to all tests on one adapter.
///
/// Its text has a line for the version and one for each test, `name: holds: particulars`, and is read back by [`str::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    answers: Vec<Answer>,
}

impl SelfTest {
    /// The version of the tests. What was kept of another version is not used.
    pub const VERSION: u32 = 5;

    /// Each test with its answer, in the order in which they run.
    pub fn answers(&self) -> impl Iterator<Item = (Test, &Answer)> {
        Test::ALL.into_iter().zip(&self.answers)
    }

    /// The answer to a test.
    pub fn answer(&self, test: Test) -> &Answer {
        &self.answers[test as usize]
    }

    /// Corrects a description of the adapter: what fails is switched off, and what arithmetic does is as it was found. Skipped tests change
    /// nothing.
    pub fn apply(&self, target: &mut Target) {
        for (test, answer) in self.answers() {
            if !matches!(answer, Answer::Skipped(_)) {
                test.decide(target, answer.holds());
            }
        }
        target.arithmetic.flushes_denormals = self.flushes_denormals(target.arithmetic.flushes_denormals);
    }

    /// Two tests that cannot both hold decide it.
    fn flushes_denormals(&self, known: Option<bool>) -> Option<bool> {
        match (self.answer(Test::DenormalsKept), self.answer(Test::DenormalsFlushed)) {
            (Answer::Skipped(_), _) | (_, Answer::Skipped(_)) => known,
            (Answer::Holds(_), _) => Some(false),
            (_, Answer::Holds(_)) => Some(true),
            (Answer::Fails(_), Answer::Fails(_)) => None,
        }
    }

    /// What is kept for an adapter and its driver.
    pub fn load(cache: &Cache, adapter: &AdapterInfo) -> Option<SelfTest> {
        let kept = cache.read(Kind::SelfTest, &key(adapter))?;
        std::str::from_utf8(&kept).ok()?.parse().ok()
    }

    /// Keeps the answers for this adapter and its driver.
    ///
    /// # Errors
    /// [`Error::Cache`] if the cache cannot be written.
    pub fn save(&self, cache: &Cache, adapter: &AdapterInfo) -> Result<(), Error> {
        cache.write(Kind::SelfTest, &key(adapter), self.to_string().as_bytes())
    }
}

/// What answers depend on. With the driver the answers may change.
fn key(adapter: &AdapterInfo) -> String {
    let AdapterInfo { name, backend, driver, vendor, device, .. } = adapter;
    let version = SelfTest::VERSION;
    // What a build leaves out another may have.
    let ordered = if cfg!(feature = "no-contraction") { " with no-contraction" } else { "" };
    format!("self-test {version}{ordered} of {name} ({vendor:04x}:{device:04x}) through {backend}, driver {driver}")
}

impl Device {
    /// Runs all tests. What the device was opened with stays as it is: [`SelfTest::apply`] corrects a [`Target`], and what is
    /// [saved](SelfTest::save) is used when the adapter is opened the next time.
    ///
    /// # Errors
    /// What keeps even the simplest kernel from running. A test that the driver refuses, or at which the device is lost, fails, and those behind a
    /// loss are skipped, as is a test for which there is no memory.
    pub async fn self_test_async(&self) -> Result<SelfTest, Error> {
        kernel::simplest(self).await?;
        let mut answers = Vec::with_capacity(Test::ALL.len());
        let mut lost: Option<String> = None;
        for test in Test::ALL {
            let answer = match (&lost, test.lacks(self)) {
                (Some(during), _) => Answer::Skipped(format!("the device was lost during {during}")),
                (None, Some(lack)) => Answer::Skipped(lack),
                (None, None) => test.run(self).await.unwrap_or_else(|error| {
                    // A loss may come to light as another error first.
                    if matches!(error, Error::DeviceLost(_)) || self.wait("testing the device").is_err() {
                        lost = Some(test.name().to_owned());
                    }
                    match error {
                        // That says nothing of the driver.
                        Error::OutOfMemory { .. } => Answer::Skipped(one_line(&error.to_string())),
                        error => Answer::Fails(one_line(&error.to_string())),
                    }
                }),
            };
            tracing::debug!(test = test.name(), answer = answer.word(), "self-test");
            answers.push(answer);
        }
        Ok(SelfTest { answers })
    }
}

#[cfg(feature = "blocking")]
impl Device {
    /// [`Device::self_test_async`], waiting for the answers.
    ///
    /// # Errors
    /// As [`Device::self_test_async`].
    pub fn self_test(&self) -> Result<SelfTest, Error> {
        pollster::block_on(self.self_test_async())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
