//! A shader in other languages, by naga's writers.

use crate::Shader;

impl Shader {
    /// The SPIR-V words.
    ///
    /// # Errors
    /// naga's reason.
    #[cfg(feature = "spirv")]
    pub fn to_spirv(&self) -> Result<Vec<u32>, String> {
        let options = naga::back::spv::Options::default();
        naga::back::spv::write_vec(&self.module, &self.info, &options, None).map_err(|error| error.to_string())
    }

    /// Metal's shading language.
    ///
    /// # Errors
    /// naga's reason.
    #[cfg(feature = "msl")]
    pub fn to_msl(&self) -> Result<String, String> {
        use naga::back::msl;
        let options = msl::Options { fake_missing_bindings: true, ..msl::Options::default() };
        msl::write_string(&self.module, &self.info, &options, &msl::PipelineOptions::default())
            .map(|(text, _)| text)
            .map_err(|error| error.to_string())
    }

    /// Direct3D's shading language.
    ///
    /// # Errors
    /// naga's reason.
    #[cfg(feature = "hlsl")]
    pub fn to_hlsl(&self) -> Result<String, String> {
        use naga::back::hlsl;
        let mut text = String::new();
        let options = hlsl::Options { fake_missing_bindings: true, ..hlsl::Options::default() };
        let pipeline = hlsl::PipelineOptions::default();
        hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(&self.module, &self.info, None)
            .map_err(|error| error.to_string())?;
        Ok(text)
    }

    /// OpenGL's shading language, version 4.30.
    ///
    /// # Errors
    /// naga's reason.
    #[cfg(feature = "glsl")]
    pub fn to_glsl(&self) -> Result<String, String> {
        use naga::back::glsl;
        let mut text = String::new();
        let options = glsl::Options { version: glsl::Version::Desktop(430), ..glsl::Options::default() };
        let pipeline = glsl::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: self.entry_point.clone(),
            multiview: None,
        };
        glsl::Writer::new(
            &mut text,
            &self.module,
            &self.info,
            &options,
            &pipeline,
            naga::proc::BoundsCheckPolicies::default(),
        )
        .and_then(|mut writer| writer.write())
        .map_err(|error| error.to_string())?;
        Ok(text)
    }
}
